// Tasks as clients read them: opened, checked against what was sealed, and noted as read.

import type { TaskObserver } from "./observer.ts";
import { checkOwner, MovedRecordError } from "./ownership.ts";
import { ReadNotes } from "./read-notes.ts";
import type { Sealer } from "./sealing.ts";
import { snapshotOf } from "./snapshot.ts";
import type { TaskSnapshot } from "./snapshot.ts";
import type { TaskStore } from "./store.ts";
import type { TaskRecord } from "./task.ts";

/** Opens tasks for clients. */
export class SnapshotReader {
  readonly #notes: ReadNotes;
  readonly #sealer: Sealer;
  readonly #observer: Pick<TaskObserver, "moved">;

  constructor(given: {
    readonly store: Pick<TaskStore, "noteRead">;
    readonly sealer: Sealer;
    readonly observer: Pick<TaskObserver, "moved">;
  }) {
    this.#notes = new ReadNotes(given.store);
    this.#sealer = given.sealer;
    this.#observer = given.observer;
  }

  /** Opens a task. Throws if a key is missing, or if the task was changed in the database. */
  readonly open = (task: TaskRecord): TaskSnapshot => {
    this.#notes.note([task]);
    try {
      return snapshotOf(this.#sealer, task);
    } catch (error) {
      this.#isMoved(task, error);
      throw error;
    }
  };

  /** Opens tasks. One that was changed in the database is left out, so that it does not hide the others. */
  openAll(tasks: readonly TaskRecord[]): readonly TaskSnapshot[] {
    this.#notes.note(tasks);
    return tasks.flatMap((task) => {
      try {
        return [snapshotOf(this.#sealer, task)];
      } catch (error) {
        if (!this.#isMoved(task, error)) throw error;
        return [];
      }
    });
  }

  /** Writes the notes that are still gathered, because this process stops. */
  flush(): void {
    this.#notes.write();
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
}
