// Following tasks. A hint says that a task may have changed, and its revision says whether it has. All followers in
// this process share one subscription, and one statement for each poll. A change that this process has made itself brings
// the record along, so it is not read.

import type { TaskSnapshot } from "./snapshot.ts";
import type { TaskStore } from "./store.ts";
import { isLive } from "./task.ts";
import type { TaskRecord } from "./task.ts";
import type { TaskObserver } from "./observer.ts";

const pollMs = 2_000;
/** How many revisions one statement asks for. A poll of more takes several, with room for other work in between. */
const revisionsAtOnce = 1_000;
/** How many tasks are read at the same time, for all followers together. A task can be large. */
const readsAtOnce = 8;

interface Follower {
  /** The last revision that this follower has seen. */
  revision: number;
  /** What it was shown last. */
  shown?: TaskSnapshot | undefined;
  /** The task may have changed. Without a record, it has to be read. */
  readonly changed: (task: TaskRecord | undefined) => void;
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
  #reads = 0;
  readonly #waiting: (() => void)[] = [];

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
    // The task may have changed before this follower was added. A record is not newer than a hint without one, in whatever
    // order they come.
    let mustRead = true;
    let told: TaskRecord | undefined;
    const follower: Follower = {
      revision: since,
      changed: (task) => {
        if (task === undefined) mustRead = true;
        else told = task;
        wake?.();
      },
    };
    const end = () => wake?.();
    signal.addEventListener("abort", end);
    this.#add(id, follower);
    try {
      while (!signal.aborted) {
        if (!mustRead && told === undefined) {
          await new Promise<void>((resolve) => {
            wake = resolve;
          });
          wake = undefined;
          continue;
        }
        const known = mustRead ? undefined : told;
        mustRead = false;
        told = undefined;
        const task = known ?? (await this.#read(id));
        if (task === "unknown") continue;
        if (task === undefined) return;
        if (task.revision > follower.revision && !isAborted(signal)) {
          follower.revision = task.revision;
          yield (follower.shown = show(task));
        }
        if (!isLive(task)) return;
      }
    } finally {
      signal.removeEventListener("abort", end);
      this.#remove(id, follower);
    }
  }

  /**
   * Yields the states of many tasks, until all have ended or the signal aborts. It reads one task at a time, and only
   * when the reader asks for the next state, so a slow reader holds no more than one. Changes of a task within `gapMs`
   * share a state. The last state of a task is never held back. A task that cannot be shown is followed no longer.
   */
  async *followAll(
    ids: readonly string[],
    gapMs: number,
    signal: AbortSignal,
    show: (task: TaskRecord) => TaskSnapshot | undefined,
  ): AsyncGenerator<TaskSnapshot, void> {
    const changed = new Set(ids);
    const followed = new Map<string, Follower & { quiet: NodeJS.Timeout | undefined }>();
    let wake: (() => void) | undefined;
    // At most one record is kept: of a change that comes while the reader waits.
    let told: TaskRecord | undefined;
    let last: Follower | undefined;
    const look = (id: string) => {
      if (!followed.has(id)) return;
      changed.add(id);
      wake?.();
    };
    const hinted = (id: string, task: TaskRecord | undefined) => {
      if (task !== undefined && changed.size === 0) told = task;
      else if (told?.id === id && (task?.revision ?? Infinity) > told.revision) told = task;
      look(id);
    };
    const forget = (id: string) => {
      const follower = followed.get(id);
      if (follower === undefined) return;
      clearTimeout(follower.quiet);
      followed.delete(id);
      changed.delete(id);
      this.#remove(id, follower);
    };
    const end = () => wake?.();
    signal.addEventListener("abort", end);
    for (const id of changed) {
      const follower = {
        revision: 0,
        quiet: undefined,
        changed: (task: TaskRecord | undefined) => hinted(id, task),
      };
      followed.set(id, follower);
      this.#add(id, follower);
    }
    try {
      while (!signal.aborted && followed.size > 0) {
        const [id] = changed;
        if (id === undefined) {
          await new Promise<void>((resolve) => {
            wake = resolve;
          });
          wake = undefined;
          continue;
        }
        changed.delete(id);
        const known = told?.id === id ? told : undefined;
        told = undefined;
        const task = known ?? (await this.#read(id));
        // A store may respond within this turn every time, so give other work in the process a chance.
        await turn();
        const follower = followed.get(id);
        if (task === "unknown" || follower === undefined) continue;
        if (task === undefined) {
          forget(id);
          continue;
        }
        const isNews = task.revision > follower.revision && !isAborted(signal);
        // It is read again when the gap is over.
        if (isNews && isLive(task) && follower.quiet !== undefined) continue;
        if (isNews) {
          follower.revision = task.revision;
          clearTimeout(follower.quiet);
          follower.quiet = setTimeout(() => {
            follower.quiet = undefined;
            look(id);
          }, gapMs);
        }
        const shown = isNews ? show(task) : undefined;
        if (!isLive(task) || (isNews && shown === undefined)) forget(id);
        if (shown === undefined) continue;
        if (last !== undefined) last.shown = undefined;
        last = follower;
        last.shown = shown;
        yield shown;
      }
    } finally {
      signal.removeEventListener("abort", end);
      for (const id of followed.keys()) forget(id);
    }
  }

  /** The task as one of its followers was shown it last. It may have changed since. */
  shown(id: string): TaskSnapshot | undefined {
    for (const { shown } of this.#followers.get(id) ?? []) if (shown !== undefined) return shown;
    return undefined;
  }

  /** If the store cannot be reached, following continues: the next poll tries again. */
  async #read(id: string): Promise<TaskRecord | undefined | "unknown"> {
    if (this.#reads < readsAtOnce) this.#reads += 1;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    try {
      return await this.#store.read(id);
    } catch (error) {
      this.#observer.storeFailed(error);
      return "unknown";
    } finally {
      // The place goes to the next in line.
      const next = this.#waiting.shift();
      if (next === undefined) this.#reads -= 1;
      else next();
    }
  }

  #add(id: string, follower: Follower): void {
    const others = this.#followers.get(id);
    if (others === undefined) this.#followers.set(id, new Set([follower]));
    else others.add(follower);
    this.#unsubscribe ??= this.#store.subscribe(
      (hint) => {
        if (hint.isParts === true) return;
        if (hint.id === undefined) return void this.#lookAll();
        for (const one of this.#followers.get(hint.id) ?? []) one.changed(hint.task);
      },
      (wanted) => this.#followers.has(wanted),
    );
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
    const followed = [...this.#followers.keys()];
    try {
      for (let at = 0; at < followed.length; at += revisionsAtOnce) {
        if (at > 0) await turn();
        const ids = followed.slice(at, at + revisionsAtOnce);
        const revisions = await this.#store.revisions(ids);
        for (const id of ids) this.#compare(id, revisions.get(id) ?? Infinity);
      }
      this.#observer.storeBack();
    } catch (error) {
      this.#observer.storeFailed(error);
    }
  }

  #compare(id: string, revision: number): void {
    for (const one of this.#followers.get(id) ?? [])
      if (revision > one.revision) one.changed(undefined);
  }
}

// TypeScript assumes that a signal cannot abort during an await.
const isAborted = (signal: AbortSignal) => signal.aborted;

const turn = () => new Promise<void>((resolve) => setImmediate(resolve));
