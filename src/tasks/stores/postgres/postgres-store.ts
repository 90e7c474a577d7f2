// Long on purpose: one member for each operation of a store.
// Tasks in Postgres, for many replicas. statements.ts says what each statement does, and moves.ts what it has to do.

import type {
  ClaimedTask,
  CreateResult,
  StoreFigures,
  RenewalResult,
  RoundClaimRequest,
  RoundClaimResult,
  TaskStore,
} from "../../store.ts";
import type { AccountStore } from "../../account-store.ts";
import type { TaskReader } from "../../task-reader.ts";
import type { ApprovalStore, DecisionResult } from "../../approval-store.ts";
import { asOf } from "../../expiry.ts";
import { bytesOf, wasAppended, wasFinished } from "../../moves.ts";
import type { Arrival, ClaimRef, LogAddition, Sealed, TaskRecord, Waiting } from "../../task.ts";
import { parsed, recordOf, wide } from "../columns.ts";
import type { JsonColumn, TaskRow, Wide } from "../columns.ts";
import { postgresAccounts } from "./account-statements.ts";
import { PostgresDatabase } from "./database.ts";
import { isStorable, storable } from "./errors.ts";
import { NotifyHints } from "./notify-hints.ts";
import { migrate } from "./postgres-migrations.ts";
import { connect, sizeOf } from "./pool.ts";
import type { PostgresPool } from "./pool.ts";
import { auditOn } from "./postgres-audit.ts";
import { PostgresParts } from "./postgres-parts.ts";
import { postgresReader } from "./postgres-reader.ts";
import { defaultSchema, quoted } from "./schema-name.ts";
import { StatementGroups } from "./statement-groups.ts";
import type { GroupRow, Member } from "./statement-groups.ts";
import { statementsFor } from "./statements.ts";
import type { StatementName } from "./statements.ts";
import { removeEnded, sweep } from "./postgres-upkeep.ts";

/** Options of `postgresStore`. */
export interface PostgresStoreOptions {
  /** The schema that has the tables. Default: "parley". */
  readonly schema?: string | undefined;
  /** How long a worker holds a task without renewing its lease, in milliseconds. Default: 10 seconds. */
  readonly leaseMs?: number | undefined;
  /** Whether statements are prepared. Turn it off for a pooler that cannot keep prepared statements. Default: true. */
  readonly prepare?: boolean | undefined;
  /**
   * Whether this process listens for changes that others make, on a connection of its own (`LISTEN`). Turn it off for a
   * pooler in transaction mode, where nothing is heard. Polling, once a second, then finds everything. Default: true.
   */
  readonly listen?: boolean | undefined;
}

/** The statements that many operations share. */
type GroupedStatement = "create" | "read" | "answer" | "append" | "park" | "publish" | "finish";

type CurrentRow = TaskRow & { readonly now: Wide };
type Moved = { readonly is_due?: boolean | null };
/** A statement returns the task only if it was asked to. */
type Shown = TaskRow | { readonly id: null };
type Logged = { readonly log: JsonColumn<readonly Sealed[]> };

/**
 * A transaction that notifies writes to the log of the database, and holds a lock of the whole database while it does. It
 * need not wait for the disk: a hint may be lost.
 */
export const notify = "select set_config('synchronous_commit', 'off', true), pg_notify($1, $2)";

/** A task store in Postgres. */
export class PostgresStore implements TaskStore {
  readonly "~store" = "postgres";
  readonly leaseMs: number;
  readonly appendsWithNext = true;
  readonly accounts: AccountStore;
  readonly #schema: string;
  readonly #database: PostgresDatabase<StatementName>;
  readonly #groups: StatementGroups<GroupedStatement>;
  readonly audit: TaskStore["audit"];
  readonly #parts: PostgresParts;
  readonly reader: TaskReader;
  readonly #hints: NotifyHints;

  constructor(connection: string | PostgresPool, options: PostgresStoreOptions = {}) {
    const { schema = defaultSchema, leaseMs = 10_000, prepare = true, listen = true } = options;
    const name = quoted(schema);
    const database = new PostgresDatabase(connection, statementsFor(name), prepare);
    this.#database = database;
    this.#groups = new StatementGroups((each, members) => database.run(each, [members]));
    this.audit = auditOn(database);
    this.#parts = new PostgresParts(database);
    this.accounts = postgresAccounts(database);
    this.reader = postgresReader(database);
    this.#schema = schema;
    this.leaseMs = leaseMs;
    this.#hints = new NotifyHints(schema, {
      notify: async (payload) => (await database.pool()).query(notify, [schema, payload]),
      connect: async () => {
        if (!listen) return undefined;
        const pool = await database.pool();
        // A pool with a single connection needs it for everything else. Polling replaces the hints.
        return sizeOf(pool) > 1 ? connect(pool) : undefined;
      },
    });
  }

  readonly migrate: TaskStore["migrate"] = () =>
    this.#database.withClient((client) => migrate(client, this.#schema));

  readonly close: TaskStore["close"] = async () => {
    await this.#hints.close();
    await this.#database.close();
  };

  // ---------------------------------------------------------------- anyone

  readonly create: TaskStore["create"] = async (task, most): Promise<CreateResult> => {
    const { claimedBy } = task;
    const member = {
      id: storable(task.id),
      call_id: storable(task.callId),
      tool: storable(task.tool),
      principal: storable(task.principal),
      input: task.input,
      inbox: task.inbox,
      log: task.log,
      log_bytes: bytesOf(task.log),
      worker: claimedBy?.worker,
      epoch: claimedBy === undefined ? 0 : 1,
      lease_ms: whole(claimedBy?.leaseMs ?? 0),
      ttl_ms: whole(task.ttlMs),
      most: Number.isFinite(most) ? whole(most) : undefined,
      undos: task.undos ?? 0,
      status: task.ended?.status,
      result: task.ended?.result,
    };
    // One attempt is enough, unless the task that is in the way is forgotten before it is read.
    for (let attempt = 0; attempt < 3; attempt++) {
      const [row] = await this.#grouped<{ fits: boolean } & TaskRow>("create", member);
      if (row !== undefined && row.id !== null) {
        const created = recordOf(row);
        this.#hints.changed([task.id], { isDue: claimedBy === undefined, task: created });
        return { kind: "created", task: created };
      }
      const existing = await this.readByCall(task.callId);
      if (existing !== undefined) return { kind: "exists", task: existing };
      if (row?.fits === false) return { kind: "too many" };
    }
    throw new Error(`The id of the new task is already in use: ${task.id}`);
  };

  readonly read: TaskStore["read"] = async (id) => {
    if (!isStorable(id)) return undefined;
    return current(await this.#grouped<CurrentRow>("read", { id }));
  };

  readonly readByCall: TaskStore["readByCall"] = async (callId) => {
    if (!isStorable(callId)) return undefined;
    return current(await this.#run<CurrentRow>("readByCall", [callId]));
  };

  readonly readLog: TaskStore["readLog"] = async (id, from = 0) => {
    if (!isStorable(id)) return [];
    const [row] = await this.#run<Logged>("readLog", [id, from]);
    return row === undefined ? [] : parsed(row.log);
  };

  readonly readParts: TaskStore["readParts"] = async (id, { epoch, n }) => {
    if (!isStorable(id)) return undefined;
    return this.#parts.read({ id, epoch, n });
  };

  readonly list: TaskStore["list"] = async ({ principal, after, limit }) => {
    if (!isStorable(principal ?? "")) return [];
    const { createdAt, id } = after ?? { createdAt: Number.MAX_SAFE_INTEGER, id: "" };
    const rows = await this.#run<TaskRow>(principal === undefined ? "listAll" : "listOwn", [
      principal ?? null,
      createdAt,
      id,
      limit,
    ]);
    return rows.map(recordOf);
  };

  readonly answer: TaskStore["answer"] = async (id, answers, by) => {
    if (!isStorable(id)) return undefined;
    // Wire keys come from clients. A key that Postgres cannot keep was never asked.
    const possible = answers.filter(({ wire }) => isStorable(wire));
    type Log = JsonColumn<readonly Sealed[]> | null;
    type Row = CurrentRow & { accepted: JsonColumn<readonly string[]>; log: Log };
    const claimer = by && { claimer: storable(by.worker), lease_ms: whole(by.leaseMs) };
    const [row] = await this.#grouped<Row>("answer", { id, answers: possible, ...claimer });
    if (row === undefined) {
      const task = await this.read(id);
      return task && { task, accepted: [] };
    }
    const { log } = row;
    const accepted = parsed(row.accepted);
    const task = asOf(recordOf(row), Number(row.now));
    this.#hints.changed([id], { isDue: task.worker === undefined, isNews: log === null, task });
    if (log === null) return { task, accepted };
    return { task, accepted, claimed: await this.#claimed(task, parsed(log), undefined) };
  };

  readonly approvals: ApprovalStore = {
    decide: async (id, wire, { who, ...decision }) => {
      if (!isStorable(id) || !isStorable(wire)) return undefined;
      type Row = TaskRow & { now: Wide } & { readonly kind: DecisionResult["kind"] } & {
        readonly decisions: JsonColumn<DecisionResult["decisions"]>;
      };
      const given = JSON.stringify({ who: storable(who), ...decision });
      const [row] = await this.#run<Row>("decide", [id, wire, given]);
      if (row === undefined) return undefined;
      const { kind, decisions } = row;
      const task = asOf(recordOf(row), Number(row.now));
      const isOver = kind === "completed";
      if (isOver || kind === "counted")
        this.#hints.changed([id], { isDue: isOver && task.worker === undefined, task });
      return { kind, decisions: parsed(decisions), task };
    },
  };

  readonly cancel: TaskStore["cancel"] = async (id, keepMs) => {
    const task = await this.#one("cancel", id, whole(keepMs));
    if (task === undefined) return this.read(id);
    this.#hints.changed([id], { task });
    return task;
  };

  readonly requeue: TaskStore["requeue"] = async (id, { stuckAfter, keepMs }) => {
    const requeued = await this.#one("requeue", id, stuckAfter, whole(keepMs));
    if (requeued === undefined) {
      const task = await this.read(id);
      return task && { task, isRequeued: false };
    }
    this.#hints.changed([id], { isDue: true, task: requeued });
    return { task: requeued, isRequeued: true };
  };

  readonly revisions: TaskStore["revisions"] = async (ids, principal) => {
    if (!isStorable(principal ?? "")) return new Map();
    const rows = await this.#run<Pick<TaskRow, "id" | "revision">>("revisions", [
      ids.filter(isStorable),
      principal ?? null,
    ]);
    return new Map(rows.map(({ id, revision }) => [id, Number(revision)]));
  };

  readonly noteRead: TaskStore["noteRead"] = async (ids) =>
    void (await this.#run("noteRead", [ids.filter(isStorable)]));

  readonly hearsOthers = (): boolean => this.#hints.isHearing;
  readonly subscribe: TaskStore["subscribe"] = (listener, wants) =>
    this.#hints.subscribe(listener, wants);

  // ---------------------------------------------------------------- workers

  readonly claim: TaskStore["claim"] = async ({ worker, tools, most, leaseMs }) => {
    type Row = TaskRow & Logged & { now: Wide; next_due_at: Wide | null; before: string | null };
    const rows = await this.#run<Row>("claim", [worker, tools, most, whole(leaseMs)]);
    const [{ now, next_due_at: nextDueAt } = { now: 0, next_due_at: null }] = rows;
    const claimed = rows
      .filter(({ id }) => id !== null)
      .map((row) => this.#claimed(recordOf(row), parsed(row.log), row.before ?? undefined));
    return { claimed: await Promise.all(claimed), nextDueAt: wide(nextDueAt), now: Number(now) };
  };

  async #claimed(
    task: TaskRecord,
    log: readonly Sealed[],
    before: string | undefined,
  ): Promise<ClaimedTask> {
    // The previous worker may have added to it after this statement began. Now that the task is claimed, it cannot.
    const isWhole = log.length === task.logLength;
    return { task, log: isWhole ? log : await this.readLog(task.id), before };
  }

  readonly renew: TaskStore["renew"] = async (worker, refs, leaseMs): Promise<RenewalResult> => {
    type Inbox = JsonColumn<readonly Arrival[]>;
    type Row = { now: Wide; id: string | null; inbox: Inbox; is_undoing: boolean };
    const ids = refs.map(({ id }) => id);
    const epochs = refs.map(({ epoch }) => epoch);
    const rows = await this.#run<Row>("renew", [worker, ids, epochs, whole(leaseMs)]);
    const byId = new Map(rows.map((row) => [row.id, row]));
    const held = ids.flatMap((id) => {
      const row = byId.get(id);
      return row === undefined
        ? []
        : [{ id, inbox: parsed(row.inbox), ...(row.is_undoing && { isUndoing: true }) }];
    });
    return { held, now: Number(rows[0]?.now) };
  };

  readonly append: TaskStore["append"] = async (ref, more) => {
    const { at, records, taken, returned, undos, streamed, took, expired } = more;
    const written = { at, records, bytes: bytesOf(records), taken, returned, undos, streamed };
    const member = { ...refOf(ref), ...written, ms: took?.ms, tries: took?.tries, expired };
    const [row] = await this.#grouped("append", member);
    const isDone =
      row !== undefined || (await this.#was(ref, (task) => wasAppended(task, ref, more)));
    if (isDone && streamed !== undefined) this.#hints.partsChanged(ref.id);
    return isDone;
  };

  readonly addParts: TaskStore["addParts"] = async (ref, parts) => {
    const isDone = await this.#parts.add({ ref, parts });
    if (isDone) this.#hints.partsChanged(ref.id);
    return isDone;
  };

  readonly publish: TaskStore["publish"] = (ref, waiting) => this.#waits("publish", ref, waiting);
  readonly park: TaskStore["park"] = (ref, { append, ...waiting }) =>
    this.#waits("park", ref, { ...waiting, ...additionOf(append) });

  readonly release: TaskStore["release"] = (ref, { afterMs, isFruitless, cause }) =>
    this.#move("release", ref, [whole(afterMs), isFruitless, cause ?? null]);

  readonly report: TaskStore["report"] = (ref, statusMessage) =>
    this.#move("report", ref, [statusMessage]);

  readonly finish: TaskStore["finish"] = async (ref, finish) => {
    const { status, result, statusMessage, keepMs, isUndoing = false, append } = finish;
    const ending = { status, result, message: statusMessage, keep_ms: whole(keepMs) };
    const more = { keeps: isUndoing, ...additionOf(append) };
    const member = { ...this.#shownRef(ref), ...ending, ...more };
    const [row] = await this.#grouped<Shown>("finish", member);
    if (row === undefined) return this.#was(ref, (task) => wasFinished(task, ref, finish));
    this.#hints.changed([ref.id], { isNews: false, ...shown(row) });
    return true;
  };

  readonly undo: TaskStore["undo"] = async (ref, { at, records, undos, keepMs }) => {
    const values = [at, records, bytesOf(records), undos, whole(keepMs)];
    const isDone = await this.#isDone("undo", [ref.id, ref.epoch, ...values]);
    if (isDone) this.#hints.changed([ref.id], { isNews: false });
    return isDone;
  };

  readonly leave: TaskStore["leave"] = async (worker) => void (await this.#run("leave", [worker]));

  readonly workers: TaskStore["workers"] = async () => {
    type Row = { readonly now: Wide; readonly id: string | null; readonly seen_at: Wide | null };
    const rows = await this.#run<Row>("workers", []);
    const workers = rows.flatMap(({ id, seen_at }) =>
      id === null ? [] : [{ name: id, seenAt: Number(seen_at) }],
    );
    return { now: Number(rows[0]?.now), workers };
  };

  readonly sweep: TaskStore["sweep"] = (limit, keepMs, unreadMs, undoMs = Infinity) => {
    const times = { keepMs: whole(keepMs), unreadMs, undoMs: whole(undoMs) };
    return sweep(this.#database, { limit, ...times }, (ids) => this.#hints.changed(ids));
  };

  // ---------------------------------------------------------------- limits of a caller

  readonly usage: TaskStore["usage"] = async (principal) => {
    if (!isStorable(principal)) return { live: 0, ended: 0, bytes: 0 };
    type Row = { live: Wide; ended: Wide; bytes: Wide };
    const [row] = await this.#run<Row>("usage", [principal]);
    const count = (name: keyof Row): number => Number(row?.[name] ?? 0);
    return { live: count("live"), ended: count("ended"), bytes: count("bytes") };
  };

  readonly countEnded = async (principal: string): Promise<number> => {
    if (!isStorable(principal)) return 0;
    const [row] = await this.#run<{ readonly ended: Wide }>("countEnded", [principal]);
    return Number(row?.ended ?? 0);
  };

  readonly removeEnded: TaskStore["removeEnded"] = async (principal, limit, keepMs) => {
    const removed = await removeEnded(this.#database, storable(principal), limit, whole(keepMs));
    this.#hints.changed(removed);
    return removed.length;
  };

  // ---------------------------------------------------------------- operators

  readonly figures: TaskStore["figures"] = async (): Promise<StoreFigures> => {
    const [row] = await this.#run<Readonly<Record<string, Wide | null>>>("figures", []);
    const count = (name: string): number => Number(row?.[name] ?? 0);
    return {
      now: count("now"),
      live: count("live"),
      held: count("held"),
      parked: count("parked"),
      inputRequired: count("input_required"),
      due: count("due"),
      oldestDueAt: wide(row?.["oldest_due_at"]),
      undoing: count("undoing"),
      workerSeenAt: wide(row?.["worker_seen_at"]),
    };
  };

  // ---------------------------------------------------------------- rounds

  readonly spill: TaskStore["spill"] = async (id, state, ttlMs, principal) =>
    void (await this.#run("spill", [id, state, whole(ttlMs), storable(principal)]));

  readonly countSpilled: TaskStore["countSpilled"] = async (principal, prefix) => {
    const own = [storable(principal), prefix];
    const [row] = await this.#run<{ count: number }>("countSpilled", own);
    return row?.count ?? 0;
  };

  readonly spilled: TaskStore["spilled"] = async (id) => (await this.#spilled(id))?.state;

  readonly filled: TaskStore["filled"] = async (id) =>
    (await this.#spilled(id))?.answer ?? undefined;

  readonly fill: TaskStore["fill"] = async (id, answer) => {
    if (!isStorable(id)) return "gone";
    if ((await this.#run("fill", [id, answer])).length > 0) return "filled";
    return (await this.#spilled(id)) === undefined ? "gone" : "full";
  };

  async #spilled(id: string): Promise<{ state: Sealed; answer: Sealed | null } | undefined> {
    if (!isStorable(id)) return undefined;
    const [row] = await this.#run<{ state: Sealed; answer: Sealed | null }>("spilled", [id]);
    return row;
  }

  readonly claimRound: TaskStore["claimRound"] = async (
    claim: RoundClaimRequest,
  ): Promise<RoundClaimResult> => {
    const { callId, round, answers, leaseMs, ttlMs } = claim;
    const times = [whole(leaseMs), whole(ttlMs)];
    const values = [storable(callId), round, answers, ...times, storable(claim.principal)];
    for (let attempt = 0; attempt < 3; attempt++) {
      const [claimed] = await this.#run<Logged & { epoch: number }>("claimRound", values);
      if (claimed !== undefined) {
        const ref = { id: callId, epoch: Number(claimed.epoch) };
        return { kind: "run", ref, log: parsed(claimed.log) };
      }
      type Row = { round: number; answers: string; response: Sealed | null };
      const [before] = await this.#run<Row>("readRound", [callId]);
      // The round has expired and was swept in between.
      if (before === undefined) continue;
      if (Number(before.round) > round || before.answers !== answers) return { kind: "superseded" };
      const { response } = before;
      return response === null ? { kind: "running" } : { kind: "ended", response };
    }
    return { kind: "running" };
  };

  readonly renewRound: TaskStore["renewRound"] = (ref, leaseMs) =>
    this.#changes("renewRound", [ref.id, ref.epoch, whole(leaseMs)]);

  readonly appendToRound: TaskStore["appendToRound"] = (ref, at, record) =>
    this.#isDone("appendToRound", [ref.id, ref.epoch, at, record]);

  readonly endRound: TaskStore["endRound"] = (ref, response) =>
    this.#changes("endRound", [ref.id, ref.epoch, response]);

  readonly releaseRound: TaskStore["releaseRound"] = (ref) =>
    this.#changes("releaseRound", [ref.id, ref.epoch]);

  // ---------------------------------------------------------------- running statements

  #run<Row>(name: StatementName, values: readonly unknown[]): Promise<readonly Row[]> {
    return this.#database.run<Row>(name, values);
  }

  /** Runs a statement together with others of its kind. `Row` says what it returns, and is not checked. */
  async #grouped<Row = unknown>(
    name: GroupedStatement,
    member: Member,
  ): Promise<readonly (Row & GroupRow)[]> {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the statement is our own
    return (await this.#groups.run(name, member)) as readonly (Row & GroupRow)[];
  }

  async #one(
    name: "cancel" | "requeue",
    id: string,
    ...more: readonly unknown[]
  ): Promise<TaskRecord | undefined> {
    if (!isStorable(id)) return undefined;
    const [row] = await this.#run<TaskRow>(name, [id, ...more]);
    return row === undefined ? undefined : recordOf(row);
  }

  /**
   * Whether a write that changed nothing had been written before, and only its acknowledgement was lost. By now, that attempt
   * is no longer under way, because the write has waited for it.
   */
  async #was({ id }: ClaimRef, isWritten: (task: TaskRecord) => boolean): Promise<boolean> {
    const task = await this.read(id);
    return task !== undefined && isWritten(task);
  }

  /** Makes a change that clients can see. */
  async #move(
    name: "release" | "report",
    { id, epoch }: ClaimRef,
    values: readonly unknown[],
  ): Promise<boolean> {
    const [row] = await this.#run<Moved>(name, [id, epoch, ...values]);
    if (row === undefined) return false;
    this.#hints.changed([id], { isDue: row.is_due === true, isNews: false });
    return true;
  }

  /** Writes what a task waits for, which clients can see as well. */
  async #waits(name: "publish" | "park", ref: ClaimRef, waiting: Waiting): Promise<boolean> {
    const member = { ...waiting, ...this.#shownRef(ref) };
    const [row] = await this.#grouped<Moved & Shown>(name, member);
    if (row === undefined) return false;
    this.#hints.changed([ref.id], { isDue: row.is_due === true, isNews: false, ...shown(row) });
    return true;
  }

  /** Which task, under which claim, and whether the statement is to return the task, because a listener here wants it. */
  #shownRef(ref: ClaimRef): ClaimRef & { readonly shows: boolean } {
    return { ...refOf(ref), shows: this.#hints.isWanted(ref.id) };
  }

  async #changes(name: StatementName, values: readonly unknown[]): Promise<boolean> {
    return (await this.#run(name, values)).length > 0;
  }

  async #isDone(name: "undo" | "appendToRound", values: readonly unknown[]): Promise<boolean> {
    const [row] = await this.#run<{ is_done: boolean }>(name, values);
    return row?.is_done === true;
  }
}

/** Records that come along with another write, as a member has them. */
const additionOf = (append: LogAddition | undefined) =>
  append && { at: append.at, records: append.records, bytes: bytesOf(append.records) };

/** Which task, under which claim. */
const refOf = ({ id, epoch }: ClaimRef): ClaimRef => ({ id, epoch });

/** The task in the row, if the statement returned it. */
const shown = (row: Shown): { readonly task?: TaskRecord } =>
  row.id === null ? {} : { task: recordOf(row) };

/** A task as it is at the time of the statement. */
const current = ([row]: readonly CurrentRow[]): TaskRecord | undefined =>
  row === undefined ? undefined : asOf(recordOf(row), Number(row.now));

/** The columns hold whole milliseconds, so a time is rounded up: a moment too late is better than one too early. */
function whole(ms: number): number {
  return Math.ceil(Math.max(-longest, Math.min(ms, longest)));
}

/** Thirty thousand years, which stands for "forever". */
const longest = 1e15;
