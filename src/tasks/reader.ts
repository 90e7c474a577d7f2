// Tasks as clients read them: opened, checked against what was sealed, and noted as read.

import type { TaskObserver } from "./observer.ts";
import { checkOwner, MovedRecordError } from "./ownership.ts";
import type { Sealer } from "./sealing.ts";
import { snapshotOf } from "./snapshot.ts";
import type { TaskSnapshot } from "./snapshot.ts";
import type { TaskStore } from "./store.ts";
import { isLive } from "./task.ts";
import type { TaskRecord } from "./task.ts";

/** Opens tasks for clients. */
export class SnapshotReader {
  readonly #store: Pick<TaskStore, "noteRead">;
  readonly #sealer: Sealer;
  readonly #observer: Pick<TaskObserver, "moved">;

  constructor(given: {
    readonly store: Pick<TaskStore, "noteRead">;
    readonly sealer: Sealer;
    readonly observer: Pick<TaskObserver, "moved">;
  }) {
    this.#store = given.store;
    this.#sealer = given.sealer;
    this.#observer = given.observer;
  }

  /** Opens a task. Throws if a key is missing, or if the task was changed in the database. */
  readonly open = (task: TaskRecord): TaskSnapshot => {
    this.#noteRead([task]);
    try {
      return snapshotOf(this.#sealer, task);
    } catch (error) {
      this.#isMoved(task, error);
      throw error;
    }
  };

  /** Opens tasks. One that was changed in the database is left out, so that it does not hide the others. */
  openAll(tasks: readonly TaskRecord[]): readonly TaskSnapshot[] {
    this.#noteRead(tasks);
    return tasks.flatMap((task) => {
      try {
        return [snapshotOf(this.#sealer, task)];
      } catch (error) {
        if (!this.#isMoved(task, error)) throw error;
        return [];
      }
    });
  }

  /** Whether the row of a task says what was sealed. */
  isWhatWasSealed(task: TaskRecord): boolean {
    try {
      checkOwner(this.#sealer, task);
      return true;
    } catch (error) {
      if (!this.#isMoved(task, error)) throw error;
      return false;
    }
  }

  /** Whether this is the error for a task that was changed in the database. Reports it if so. */
  #isMoved(task: TaskRecord, error: unknown): boolean {
    if (!(error instanceof MovedRecordError)) return false;
    this.#observer.moved(task, error);
    return true;
  }

  /** Notes that a client knows these tasks, without letting it wait. If a note is lost, the next read makes another. */
  #noteRead(tasks: readonly TaskRecord[]): void {
    const unread = tasks.filter((task) => task.isUnread && isLive(task)).map(({ id }) => id);
    if (unread.length > 0) void this.#store.noteRead(unread).catch(() => {});
  }
}
