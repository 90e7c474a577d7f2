// Following tasks. A hint says that a task may have changed, and its revision says whether it has. All followers in
// this process share one subscription, and one statement for each poll.

import type { TaskSnapshot } from "./snapshot.ts";
import type { TaskStore } from "./store.ts";
import { isLive } from "./task.ts";
import type { TaskRecord } from "./task.ts";
import type { TaskObserver } from "./observer.ts";

const pollMs = 2_000;

interface Follower {
  /** The last revision that this follower has seen. */
  revision: number;
  readonly changed: () => void;
}

/** All followers of this store's tasks in this process. */
export class Followers {
  readonly #store: TaskStore;
  readonly #observer: Pick<TaskObserver, "storeFailed" | "storeBack">;
  readonly #followers = new Map<string, Set<Follower>>();
  #unsubscribe: (() => void) | undefined;
  #poll: NodeJS.Timeout | undefined;
  #isLooking = false;
  #isAsked = false;

  constructor(store: TaskStore, observer: Pick<TaskObserver, "storeFailed" | "storeBack">) {
    this.#store = store;
    this.#observer = observer;
  }

  /** Yields every state of a task after revision `since`, until the task ends or the signal aborts. */
  async *follow(
    id: string,
    since: number,
    signal: AbortSignal,
    show: (task: TaskRecord) => TaskSnapshot,
  ): AsyncGenerator<TaskSnapshot, void> {
    let wake: (() => void) | undefined;
    // The task may have changed before this follower was added.
    let isChanged = true;
    const follower: Follower = {
      revision: since,
      changed: () => {
        isChanged = true;
        wake?.();
      },
    };
    const end = () => wake?.();
    signal.addEventListener("abort", end);
    this.#add(id, follower);
    try {
      while (!signal.aborted) {
        if (!isChanged) {
          await new Promise<void>((resolve) => {
            wake = resolve;
          });
          wake = undefined;
          continue;
        }
        isChanged = false;
        const task = await this.#read(id);
        if (task === "unknown") continue;
        if (task === undefined) return;
        if (task.revision > follower.revision && !isAborted(signal)) {
          follower.revision = task.revision;
          yield show(task);
        }
        if (!isLive(task)) return;
      }
    } finally {
      signal.removeEventListener("abort", end);
      this.#remove(id, follower);
    }
  }

  /** If the store cannot be reached, following continues: the next poll tries again. */
  async #read(id: string): Promise<TaskRecord | undefined | "unknown"> {
    try {
      return await this.#store.read(id);
    } catch (error) {
      this.#observer.storeFailed(error);
      return "unknown";
    }
  }

  #add(id: string, follower: Follower): void {
    const others = this.#followers.get(id);
    if (others === undefined) this.#followers.set(id, new Set([follower]));
    else others.add(follower);
    this.#unsubscribe ??= this.#store.subscribe((hint) => {
      if (hint.id === undefined) return void this.#lookAll();
      for (const one of this.#followers.get(hint.id) ?? []) one.changed();
    });
    this.#poll ??= setInterval(() => void this.#lookAll(), pollMs);
  }

  #remove(id: string, follower: Follower): void {
    const others = this.#followers.get(id);
    others?.delete(follower);
    if (others?.size === 0) this.#followers.delete(id);
    if (this.#followers.size > 0) return;
    this.#unsubscribe?.();
    this.#unsubscribe = undefined;
    clearInterval(this.#poll);
    this.#poll = undefined;
  }

  /** Polls all tasks in one statement. Calls that come while it runs share the next one. */
  async #lookAll(): Promise<void> {
    this.#isAsked = true;
    if (this.#isLooking) return;
    this.#isLooking = true;
    while (this.#isAsked) {
      this.#isAsked = false;
      await this.#look();
    }
    this.#isLooking = false;
  }

  async #look(): Promise<void> {
    const ids = [...this.#followers.keys()];
    try {
      const revisions = await this.#store.revisions(ids);
      this.#observer.storeBack();
      for (const id of ids) {
        const revision = revisions.get(id) ?? Infinity;
        for (const one of this.#followers.get(id) ?? []) if (revision > one.revision) one.changed();
      }
    } catch (error) {
      this.#observer.storeFailed(error);
    }
  }
}

// TypeScript assumes that a signal cannot abort during an await.
const isAborted = (signal: AbortSignal) => signal.aborted;
