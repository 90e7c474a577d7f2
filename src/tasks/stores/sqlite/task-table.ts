// The statements on tasks and their logs. Each of them runs inside a transaction of the caller, or reads one snapshot
// by itself.

import type { StoreFigures, StoreUsage, TaskPageRequest } from "../../store.ts";
import { isLive } from "../../task.ts";
import type { ClaimRef, LogAppend, Sealed, TaskRecord } from "../../task.ts";
import { recordOf, wholeTask } from "../columns.ts";
import type { TaskRow } from "../columns.ts";
import { TaskUpdates } from "./task-updates.ts";
import type { SqliteDatabase, SqliteRow, SqliteStatement } from "./driver.ts";
import { isText } from "./driver.ts";
import { KnownRows } from "./known-rows.ts";
import { bytesIn, removableOf } from "./row-sizes.ts";
import type { Removable } from "./row-sizes.ts";

/** The same words as in the partial index, because otherwise SQLite does not use it. */
const isLiveSql = "status in ('working', 'input_required')";

/** Whether the time of a task is not up, or it has ended. `asOf` in expiry.ts does not change such a task. */
const isCurrent = `(expires_at > ? or not ${isLiveSql})`;
/** The revision that `asOf` in expiry.ts shows. */
export const shownRevision: string = `revision + (expires_at <= ? and ${isLiveSql}) as revision`;

/** The steps are undone, or undoing them has taken too long. */
const isSettled = "(undos = 0 or updated_at <= ?3)";

const isUndoing = `undos > 0 and not ${isLiveSql}`;

const columns = wholeTask.names;
const page = "(created_at, id) < (?, ?) order by created_at desc, id desc limit ?";

/** The size of what is sealed in a task. SQLite reads it from the head of a row, without the texts. */
const bytes = `log_bytes + octet_length(input) + octet_length(waits) + octet_length(inbox)
      + coalesce(octet_length(result), 0) + coalesce(octet_length(status_message), 0)`;

type SqliteTaskStatement =
  | ("insert" | "byId" | "byCall" | "countLive" | "list" | "listAll" | "revisions" | "ownRevisions")
  | ("due" | "nextDue" | "renew" | "expired" | "abandoned" | "ended" | "forget" | "figures")
  | ("noteRead" | "usage" | "countEnded")
  | ("readLog" | "appendLog" | "deleteLog");

/** The SQL of each statement. */
export const taskStatements: Readonly<Record<SqliteTaskStatement, string>> = {
  insert: `insert into tasks (${columns.join(", ")}) values (${columns.map(() => "?").join(", ")})`,
  byId: "select * from tasks where id = ?",
  byCall: "select * from tasks where call_id = ?",
  /** Counts no further than the limit. */
  countLive: `select count(*) as live from (select 1 from tasks where principal = ? and ${isLiveSql} limit ?)`,
  list: `select * from tasks where rest is null and principal = ? and ${isCurrent} and ${page}`,
  listAll: `select * from tasks where rest is null and ${isCurrent} and ${page}`,
  revisions: `select id, ${shownRevision} from tasks where id in (select value from json_each(?))`,
  ownRevisions: `select id, ${shownRevision} from tasks
    where id in (select value from json_each(?)) and principal = ? and rest is not 'removed'`,
  /** For one tool at a time, so that the index gives the tasks in order and skips those of other tools. */
  due: `select id, due_at from tasks
    where tool = ?1 and due_at <= ?2 and (expires_at > ?2 or ${isUndoing})
    order by due_at, id limit ?3`,
  nextDue: `select due_at from tasks
    where tool = ? and due_at is not null and (expires_at > ? or ${isUndoing})
    order by due_at limit 1`,
  /** Writes one column, because a whole row includes the contents of the task. */
  renew: "update tasks set due_at = ? where id = ?",
  noteRead: `update tasks set unread = 0
    where unread = 1 and id in (select value from json_each(?))`,
  expired: `select id, ${bytes} as bytes from tasks
    where rest is null and expires_at <= ?1 and (${isLiveSql} or ${isSettled}) order by expires_at limit ?2`,
  /** The same conditions as `isAbandoned` in moves.ts. */
  abandoned: `select id, ${bytes} as bytes from tasks
    where unread = 1 and status = 'input_required' and created_at <= ?1 and updated_at <= ?1
      and worker is null and due_at is null
      and not exists (
        select 1 from json_each(waits) where json_extract(value, '$.kind') <> 'question')
    order by created_at limit ?2`,
  ended: `select id, ${bytes} as bytes from tasks
    where rest is null and principal = ? and not ${isLiveSql} and undos = 0 order by created_at, id limit ?`,
  usage: `select count(*) as rows, coalesce(sum(${isLiveSql}), 0) as live,
      coalesce(sum(${bytes}), 0) as bytes
    from tasks where rest is null and principal = ?`,
  /** The status of an ended task is in no index, so the live ones are subtracted. They all have their contents. */
  countEnded: `select
      (select count(*) from tasks where rest is null and principal = ?1)
      - (select count(*) from tasks where principal = ?1 and ${isLiveSql}) as ended`,
  forget: `delete from tasks where id in (
    select id from tasks where rest is not null and expires_at <= ?1 and ${isSettled}
    order by expires_at limit ?2
  ) returning id`,
  /** One statement reads one snapshot, so that the figures agree with each other. */
  figures: `select * from
    (select count(*) as live, coalesce(sum(status = 'input_required'), 0) as input_required
      from tasks where ${isLiveSql}),
    (select count(*) as due, min(due_at) as oldest_due_at from tasks
      where due_at <= ?1 and id not in (select id from tasks where ${isUndoing})),
    (select count(*) as held, coalesce(sum(due_at <= ?1), 0) as held_and_due
      from tasks where worker is not null),
    (select count(*) as undoing, count(worker) as undoing_held,
        coalesce(sum(worker is not null and due_at <= ?1), 0) as undoing_held_and_due
      from tasks where ${isUndoing}),
    (select max(seen_at) as worker_seen_at from workers)`,
  readLog: "select record from task_log where task_id = ? and seq >= ? order by seq",
  appendLog:
    "insert into task_log (task_id, seq, record, epoch, at, ms, tries) values (?, ?, ?, ?, ?, ?, ?)",
  deleteLog: "delete from task_log where task_id = ?",
};

/** The tables of tasks and their logs. */
export class TaskTable {
  readonly #do: Readonly<Record<SqliteTaskStatement, SqliteStatement>>;
  readonly #updates: TaskUpdates;
  readonly #rows: KnownRows;

  /** The caller says to `rows` when they start anew, at the start of every transaction and of every read by itself. */
  constructor(database: SqliteDatabase, rows: KnownRows = new KnownRows()) {
    this.#do = prepareAll(database, taskStatements);
    this.#updates = new TaskUpdates(database);
    this.#rows = rows;
  }

  readonly byId = (id: string): TaskRecord | undefined =>
    this.#rows.get(id) ?? (isText(id) ? this.#first(this.#do.byId.all(id)) : undefined);

  readonly byCall = (callId: string): TaskRecord | undefined =>
    isText(callId) ? this.#first(this.#do.byCall.all(callId)) : undefined;

  #first([row]: readonly SqliteRow[]): TaskRecord | undefined {
    if (row === undefined) return undefined;
    const task = taskOf(row);
    this.#rows.put(task);
    return task;
  }

  readonly insert = (task: TaskRecord): void => {
    this.#do.insert.run(...wholeTask.valuesOf(task));
    this.#rows.put(task);
    if (isLive(task)) this.#rows.becomesLive(task.principal);
  };

  /** Writes what has changed, with the run that ends, as `HistoryTable.ended` writes it. */
  readonly update = (task: TaskRecord, ended = ""): void => {
    const before = this.#rows.get(task.id);
    this.#updates.write(before, task, ended);
    this.#rows.put(task);
    const wasLive = before !== undefined && isLive(before);
    if (isLive(task) && !wasLive) this.#rows.becomesLive(task.principal);
  };

  readonly renew = (task: TaskRecord): void => {
    this.#do.renew.run(task.dueAt ?? null, task.id);
    this.#rows.put(task);
  };

  /** Counts them only if there may be as many. */
  readonly hasAsManyLive = (principal: string, most: number): boolean => {
    const atMost = this.#rows.liveAtMost(principal);
    // SQLite takes no infinite limit.
    if (most === Infinity || (atMost !== undefined && atMost < most)) return false;
    const live = numberOf(this.#do.countLive.all(principal, most)[0], "live");
    if (live < most) this.#rows.counted(principal, live);
    return live >= most;
  };

  readonly list = (
    { principal, after, limit }: TaskPageRequest,
    now: number,
  ): readonly TaskRecord[] => {
    const from = [now, after?.createdAt ?? Number.MAX_SAFE_INTEGER, after?.id ?? "", limit];
    const rows =
      principal === undefined
        ? this.#do.listAll.all(...from)
        : this.#do.list.all(principal, ...from);
    return rows.map(taskOf);
  };

  readonly revisions = (
    ids: readonly string[],
    principal: string | undefined,
    now: number,
  ): ReadonlyMap<string, number> => {
    const rows =
      principal === undefined
        ? this.#do.revisions.all(now, JSON.stringify(ids))
        : this.#do.ownRevisions.all(now, JSON.stringify(ids), principal);
    return new Map(rows.map((row) => [String(row["id"]), numberOf(row, "revision")]));
  };

  /** The ids of due tasks, the longest due first. */
  readonly due = (tools: ReadonlySet<string>, now: number, most: number): readonly string[] =>
    [...tools]
      .flatMap((tool) => this.#do.due.all(tool, now, most))
      .map((row) => ({ id: String(row["id"]), dueAt: numberOf(row, "due_at") }))
      .toSorted((one, other) => one.dueAt - other.dueAt || (one.id < other.id ? -1 : 1))
      .slice(0, most)
      .map(({ id }) => id);

  readonly nextDueAt = (tools: ReadonlySet<string>, now: number): number | undefined => {
    const times = [...tools].map((tool) => timeOf(this.#do.nextDue.all(tool, now)[0], "due_at"));
    const next = Math.min(...times.map((time) => time ?? Infinity));
    return next === Infinity ? undefined : next;
  };

  readonly noteRead = (ids: readonly string[]): void => {
    this.#do.noteRead.run(JSON.stringify(ids));
    for (const id of ids) {
      const task = this.#rows.get(id);
      if (task?.isUnread === true) this.#rows.put({ ...task, isUnread: false });
    }
  };

  readonly expired = (now: number, limit: number, undoneBy: number): readonly Removable[] =>
    this.#do.expired.all(now, limit, atLeast(undoneBy)).map(removableOf);

  readonly abandoned = (since: number, limit: number): readonly Removable[] =>
    Number.isFinite(since)
      ? this.#do.abandoned.all(since, Math.max(0, limit)).map(removableOf)
      : [];

  /** The oldest ended tasks of a caller. */
  readonly ended = (principal: string, limit: number): readonly Removable[] =>
    this.#do.ended.all(principal, limit).map(removableOf);

  readonly usage = (principal: string): StoreUsage => {
    const rows = this.#do.usage.all(principal);
    const live = numberOf(rows[0], "live");
    return { live, ended: numberOf(rows[0], "rows") - live, bytes: bytesIn(rows) };
  };

  readonly countEnded = (principal: string): number =>
    numberOf(this.#do.countEnded.all(principal)[0], "ended");

  readonly forget = (now: number, limit: number, undoneBy: number): number => {
    const forgotten = this.#do.forget.all(now, limit, atLeast(undoneBy));
    for (const { id } of forgotten) this.#rows.forget(String(id));
    return forgotten.length;
  };

  readonly figures = (now: number): StoreFigures => {
    const [row] = this.#do.figures.all(now);
    const [live, due] = [numberOf(row, "live"), numberOf(row, "due")];
    const held = numberOf(row, "held") - numberOf(row, "undoing_held");
    const heldAndDue = numberOf(row, "held_and_due") - numberOf(row, "undoing_held_and_due");
    return {
      now,
      live,
      held,
      due,
      parked: live - held - (due - heldAndDue),
      inputRequired: numberOf(row, "input_required"),
      oldestDueAt: timeOf(row, "oldest_due_at"),
      undoing: numberOf(row, "undoing"),
      workerSeenAt: timeOf(row, "worker_seen_at"),
    };
  };

  readonly log = (id: string, from = 0): readonly Sealed[] =>
    isText(id) ? this.#do.readLog.all(id, from).map((row) => String(row["record"])) : [];

  readonly wholeLog = ({ id, logLength }: TaskRecord): readonly Sealed[] =>
    logLength === 0 ? [] : this.log(id);

  readonly appendLog = (
    { id, epoch }: ClaimRef,
    { at, records, took }: Pick<LogAppend, "at" | "records" | "took">,
    now: number,
  ): void => {
    for (const [index, record] of records.entries()) {
      const cost = index === records.length - 1 ? took : undefined;
      const { ms = null, tries = null } = cost ?? {};
      this.#do.appendLog.run(id, at + index, record, epoch, now, ms, tries);
    }
  };

  readonly deleteLog = (id: string): void => this.#do.deleteLog.run(id);
}

function prepareAll<Name extends string>(
  { prepare }: SqliteDatabase,
  statements: Readonly<Record<Name, string>>,
): Readonly<Record<Name, SqliteStatement>> {
  const prepared: Partial<Record<Name, SqliteStatement>> = {};
  for (const name in statements) prepared[name] = prepare(statements[name]);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the loop has set every name
  return prepared as Record<Name, SqliteStatement>;
}

/** SQLite has no infinite integer. */
const atLeast = (time: number): number => Math.max(time, Number.MIN_SAFE_INTEGER);

// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the table is strict
const taskOf = (row: SqliteRow): TaskRecord => recordOf(row as unknown as TaskRow);
const timeOf = (row: SqliteRow | undefined, column: string): number | undefined => {
  const time = row?.[column];
  return typeof time === "number" ? time : undefined;
};
const numberOf = (row: SqliteRow | undefined, column: string): number => Number(row?.[column]);
