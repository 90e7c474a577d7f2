// What this process knows of the tasks in the database, because it has read or written them last: most operations need not
// read a row. SQLite counts the commits of other processes (`data_version`), and after each of them nothing is known any more.

import type { TaskRecord } from "../../task.ts";

/** How many rows are kept, and how large the texts of one may be. Together they bound the memory to a few megabytes. */
const mostRows = 256;
const mostLength = 16 * 1024;
const mostCallers = 10_000;

/** Rows as they are in the database. */
export class KnownRows {
  readonly #version: (() => number) | undefined;
  /** The row that was noted last is at the end. */
  readonly #rows = new Map<string, TaskRecord>();
  readonly #live = new Map<string, number>();
  #seen: number | undefined;
  #isChecked = false;

  /** The version changes when another process commits. Without a version, no other process uses the database. */
  constructor(version?: () => number) {
    this.#version = version;
  }

  /** Every transaction, and every read by itself, starts with it: another process may have committed since the last one. */
  readonly start = (): void => {
    this.#isChecked = false;
  };

  /** Forgets everything if another process has committed. Only the first use in a transaction asks SQLite. */
  #check(): void {
    if (this.#isChecked) return;
    this.#isChecked = true;
    const version = this.#version?.();
    if (version === this.#seen) return;
    this.clear();
    this.#seen = version;
  }

  readonly get = (id: string): TaskRecord | undefined => {
    this.#check();
    return this.#rows.get(id);
  };

  /** Notes what the row of a task says now. */
  readonly put = (task: TaskRecord): void => {
    this.#check();
    this.#rows.delete(task.id);
    if (lengthOf(task) > mostLength) return;
    this.#rows.set(task.id, task);
    if (this.#rows.size <= mostRows) return;
    const [oldest] = this.#rows.keys();
    if (oldest !== undefined) this.#rows.delete(oldest);
  };

  readonly forget = (id: string): void => void this.#rows.delete(id);

  /** How many live tasks a caller has, or more than that: tasks that end do not lower it. Undefined if it is not known. */
  readonly liveAtMost = (principal: string): number | undefined => {
    this.#check();
    return this.#live.get(principal);
  };

  /** Notes how many live tasks a caller has. */
  readonly counted = (principal: string, live: number): void => {
    if (this.#live.size >= mostCallers) this.#live.clear();
    this.#live.set(principal, live);
  };

  /** A task of this caller has become live. */
  readonly becomesLive = (principal: string): void => {
    const live = this.#live.get(principal);
    if (live !== undefined) this.#live.set(principal, live + 1);
  };

  /** Forgets everything, because a transaction was rolled back. */
  readonly clear = (): void => {
    this.#rows.clear();
    this.#live.clear();
  };
}

/** Roughly how long the texts of a row are. */
function lengthOf({ input, result, statusMessage, waits, inbox }: TaskRecord): number {
  let length = input.length + (result?.length ?? 0) + (statusMessage?.length ?? 0);
  for (const { request, page, decisions } of waits) {
    length += (request?.length ?? 0) + (page?.length ?? 0) + lengthOfAll(decisions);
  }
  return length + lengthOfAll(inbox);
}

function lengthOfAll(sealed: readonly { readonly value: string }[] = []): number {
  return sealed.reduce((sum, { value }) => sum + value.length, 0);
}
