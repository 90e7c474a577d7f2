// Notes in the store that a client knows its task. They share statements: a note by itself costs a commit, and it waits for
// the worker that writes to the same row, which waits for it in turn.

import { unref } from "../util/timers.ts";
import type { TaskStore } from "./store.ts";
import { isLive } from "./task.ts";
import type { TaskRecord } from "./task.ts";

/** How long notes are gathered after others were written. */
const gatherMs = 100;

/** The notes of one process. */
export class ReadNotes {
  readonly #store: Pick<TaskStore, "noteRead">;
  readonly #now: () => number;
  readonly #waiting = new Set<string>();
  readonly #underWay = new Set<string>();
  #writtenAt = -Infinity;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(store: Pick<TaskStore, "noteRead">, now: () => number = Date.now) {
    this.#store = store;
    this.#now = now;
  }

  /** Notes that a client knows these tasks, without letting it wait. If a note is lost, the next read makes another. */
  note(tasks: readonly TaskRecord[]): void {
    for (const { id, isUnread, status } of tasks) {
      if (!isUnread || !isLive({ status })) this.#waiting.delete(id);
      else if (!this.#underWay.has(id)) this.#waiting.add(id);
    }
    if (this.#waiting.size === 0) return;
    // The first one is written at once, because on some hosts no timer fires after the response.
    const leftMs = this.#writtenAt + gatherMs - this.#now();
    if (leftMs <= 0 || leftMs > gatherMs) this.write();
    else this.#timer ??= unref(setTimeout(() => this.write(), leftMs));
  }

  /** Writes what is gathered. */
  write(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const ids = [...this.#waiting];
    if (ids.length === 0) return;
    this.#waiting.clear();
    this.#writtenAt = this.#now();
    for (const id of ids) this.#underWay.add(id);
    const over = () => {
      for (const id of ids) this.#underWay.delete(id);
    };
    this.#store.noteRead(ids).then(over, over);
  }
}
