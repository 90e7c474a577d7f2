// The alarm of an object: when it has to run a task, or to delete what is over. It is set in the transaction that makes it
// necessary, so that no task is due without it.

import type { SqliteDatabase } from "../tasks/stores/sqlite/driver.ts";
import { TaskTable } from "../tasks/stores/sqlite/task-table.ts";
import type { ObjectStorage } from "./platform.ts";

/** What is over need not be deleted at once. If it cannot be deleted yet, this is how soon it is tried again. */
const sweepGapMs = 60_000;

const nextExpiry = `select min(at) as at from (
  select min(expires_at) as at from tasks
  union all select min(expires_at) from spills
  union all select min(expires_at) from rounds)`;

/** The alarm of one object. */
export class ObjectAlarm {
  readonly #storage: ObjectStorage;
  readonly #tools: () => readonly string[];
  readonly #now: () => number;
  readonly #tasks: TaskTable;
  readonly #expiry;
  /** What it is set to, as far as this instance of the object knows. */
  #at: number | undefined;

  constructor(
    storage: ObjectStorage,
    database: SqliteDatabase,
    tools: () => readonly string[],
    now: () => number,
  ) {
    this.#storage = storage;
    this.#tools = tools;
    this.#now = now;
    this.#tasks = new TaskTable(database);
    this.#expiry = database.prepare(nextExpiry);
  }

  /** Sets it to an earlier time, if something is due earlier. An alarm that comes too early does no harm. */
  readonly bringForward = (): void => {
    const at = this.#next();
    if (at === undefined || (this.#at !== undefined && this.#at <= at)) return;
    this.#at = at;
    void this.#storage.setAlarm(at);
  };

  /** It goes off, and is not set from now on. */
  readonly goesOff = (): void => {
    this.#at = undefined;
  };

  /** Sets it anew, after everything that was due is done. */
  readonly reset = (): void => {
    this.#at = this.#next();
    void (this.#at === undefined ? this.#storage.deleteAlarm() : this.#storage.setAlarm(this.#at));
  };

  #next(): number | undefined {
    const now = this.#now();
    const [row] = this.#expiry.all();
    const expiry = row?.["at"];
    const sweepAt = typeof expiry === "number" ? Math.max(expiry, now + sweepGapMs) : Infinity;
    const dueAt = this.#tasks.nextDueAt(new Set(this.#tools()), now) ?? Infinity;
    const at = Math.min(sweepAt, dueAt);
    return at === Infinity ? undefined : at;
  }
}
