// Long on purpose: one member for each operation of a store.
// Tasks in a SQLite file, which several processes on one machine may share. A write reads the row, applies a move from
// moves.ts, and writes the row, all in one transaction that begins with the write lock.

import type { ClaimedTask, CreateResult, ChangeHint, TaskStore } from "../../store.ts";
import type { TaskReader } from "../../task-reader.ts";
import { endedRun } from "../../task-runs.ts";
import { partsHint } from "../parts-hint.ts";
import { decided } from "../../approval-moves.ts";
import type { ApprovalStore } from "../../approval-store.ts";
import { asOf } from "../../expiry.ts";
import * as moves from "../../moves.ts";
import { undone, wasUndone } from "../../undo-moves.ts";
import { isUndoing } from "../../task.ts";
import type { ClaimRef, LogAddition, TaskRecord } from "../../task.ts";
import { AccountTable, sqliteAccounts } from "./account-table.ts";
import { AuditTable, auditIn } from "./audit-table.ts";
import type { SqliteDatabase } from "./driver.ts";
import { isBusy } from "./driver.ts";
import { GroupCommit } from "./group-commit.ts";
import { KnownRows } from "./known-rows.ts";
import { CommitHints } from "./commit-hints.ts";
import { openDatabase } from "./open.ts";
import { patiently } from "./retry-when-busy.ts";
import { RoundTable } from "./round-table.ts";
import type { RoundRecord } from "./round-table.ts";
import { HistoryTable } from "./history-table.ts";
import { PartTable } from "./part-table.ts";
import { SpillTable } from "./spill-table.ts";
import { TaskTable } from "./task-table.ts";
import { inTransaction } from "./transaction.ts";
import { removeEnded, sweep } from "./sqlite-upkeep.ts";
import { WorkerTable } from "./worker-table.ts";

/** How a store is set up. */
export interface SqliteStoreSettings {
  /** The file, or how to open a database that no other process uses. */
  readonly path: string | (() => Promise<SqliteDatabase>);
  readonly leaseMs?: number | undefined;
  readonly mostBytes?: number | undefined;
  /** The clock. All processes that share the file are on one machine, so they have the same one. */
  readonly now?: (() => number) | undefined;
}

interface Tables {
  readonly accounts: AccountTable;
  readonly tasks: TaskTable;
  readonly history: HistoryTable;
  readonly parts: PartTable;
  readonly rounds: RoundTable;
  readonly spills: SpillTable;
  readonly workers: WorkerTable;
  readonly audit: AuditTable;
}

interface OpenFile extends Tables {
  readonly database: SqliteDatabase;
  readonly rows: KnownRows;
  readonly commits: GroupCommit;
  /** Undefined if no other process uses the database. */
  readonly version: (() => number) | undefined;
}

/** What goes with a move: records for the log, and whether the same move was made before. */
interface Along {
  readonly append?: LogAddition | undefined;
  readonly wasDone?: ((task: TaskRecord) => boolean) | undefined;
}

/** Notes a change that others may be following, for a hint after the commit. */
type Changed = (task: TaskRecord, isNews?: boolean) => TaskRecord;

/** A task store in a SQLite file. */
export class SqliteStore implements TaskStore {
  readonly "~store" = "sqlite";
  readonly leaseMs: number;
  readonly appendsWithNext = true;
  readonly mostBytes: number | undefined;
  readonly #path: SqliteStoreSettings["path"];
  readonly #now: () => number;
  readonly #hints: CommitHints;
  #connecting: Promise<OpenFile> | undefined;
  #connection: OpenFile | undefined;
  /** Operations that wait for the file to open, or for its lock. */
  readonly #underWay = new Set<Promise<unknown>>();
  #isClosed = false;

  constructor({ path, leaseMs, mostBytes, now }: SqliteStoreSettings) {
    this.#path = path;
    this.#hints = new CommitHints(
      typeof path === "string" ? () => this.#connection?.version?.() : undefined,
    );
    this.leaseMs = Math.ceil(leaseMs ?? 10_000);
    this.mostBytes = mostBytes;
    this.#now = now ?? Date.now;
  }

  readonly audit: TaskStore["audit"] = auditIn({
    read: (operation) => this.#read(({ audit }) => operation(audit)),
    write: (operation) => this.#write(({ audit }) => operation(audit)),
    now: () => this.#now(),
  });

  readonly migrate: TaskStore["migrate"] = async () => void (await this.#open());

  /** Waits for the operations that are under way. */
  readonly close: TaskStore["close"] = async () => {
    this.#isClosed = true;
    this.#hints.end();
    await Promise.allSettled([this.#connecting, ...this.#underWay]);
    await this.#connection?.commits.settled;
    this.#connection?.database.close();
    this.#connection = undefined;
    this.#connecting = undefined;
  };

  // ---------------------------------------------------------------- anyone

  readonly create: TaskStore["create"] = (task, most) =>
    this.#write(({ tasks }, changed): CreateResult => {
      const existing = this.#asOfNow(tasks.byCall(task.callId));
      if (existing !== undefined) return { kind: "exists", task: existing };
      if (tasks.hasAsManyLive(task.principal, most)) return { kind: "too many" };
      const next = moves.created(task, this.#now());
      tasks.insert(next);
      tasks.appendLog({ id: task.id, epoch: 0 }, { at: 0, records: task.log }, this.#now());
      return { kind: "created", task: changed(next, next.worker === undefined) };
    });

  readonly read: TaskStore["read"] = (id) =>
    this.#read(({ rows, tasks }) => {
      rows.start();
      return this.#asOfNow(tasks.byId(id));
    });
  readonly readByCall: TaskStore["readByCall"] = (id) =>
    this.#read(({ tasks }) => this.#asOfNow(tasks.byCall(id)));
  readonly readLog: TaskStore["readLog"] = (id, from) =>
    this.#read(({ tasks }) => tasks.log(id, from));
  /** They are found by asking SQLite at short intervals. */
  readonly hearsOthers = (): boolean => true;
  readonly readParts: TaskStore["readParts"] = (id, after) =>
    this.#read(({ parts }) => parts.read(id, after, this.#now()));
  readonly list: TaskStore["list"] = (page) =>
    this.#read(({ tasks }) => tasks.list(page, this.#now()));
  readonly revisions: TaskStore["revisions"] = (ids, principal) =>
    this.#read(({ tasks }) => tasks.revisions(ids, principal, this.#now()));

  readonly answer: TaskStore["answer"] = (id, answers, worker) =>
    this.#write(({ tasks }, changed) => {
      const task = this.#asOfNow(tasks.byId(id));
      if (task === undefined) return undefined;
      const next = moves.answered(task, answers, this.#now());
      if (next === undefined) return { task, accepted: [] };
      const before = new Set(task.inbox);
      const accepted = next.inbox
        .filter((arrived) => !before.has(arrived))
        .map(({ id: wire }) => wire);
      const held = worker && moves.claimedAnswered(next, worker, this.#now());
      tasks.update(changed(held ?? next, held === undefined));
      if (held === undefined) return { task: next, accepted };
      const claimed = { task: held, log: tasks.wholeLog(held), before: undefined };
      return { task: held, accepted, claimed };
    });

  readonly approvals: ApprovalStore = {
    decide: (id, wire, decision) =>
      this.#write(({ tasks }, changed) => {
        const task = this.#asOfNow(tasks.byId(id));
        const result = task && decided(task, wire, decision, this.#now());
        if (result !== undefined && result.task !== task) tasks.update(changed(result.task));
        return result;
      }),
  };

  readonly cancel: TaskStore["cancel"] = (id, keepMs) =>
    this.#write(({ tasks, history }, changed) => {
      const task = this.#asOfNow(tasks.byId(id));
      const next = task && moves.cancelled(task, this.#now(), keepMs);
      if (next === undefined) return task;
      tasks.update(changed(next), history.ended(next, endedRun(task, next, this.#now())));
      return next;
    });

  readonly requeue: TaskStore["requeue"] = (id, which) =>
    this.#write(({ tasks, history }, changed) => {
      const task = this.#asOfNow(tasks.byId(id));
      const next = task && moves.requeued(task, which, this.#now());
      if (next === undefined) return task && { task, isRequeued: false };
      tasks.update(changed(next), history.ended(next, endedRun(task, next, this.#now())));
      return { task: next, isRequeued: true };
    });

  readonly noteRead: TaskStore["noteRead"] = (ids) =>
    this.#write(({ tasks }) => tasks.noteRead(ids));

  readonly subscribe: TaskStore["subscribe"] = (listener) => {
    // Changes by other processes are seen through an open database. If it cannot be opened, the next operation says so.
    this.#open().catch(() => {});
    return this.#hints.subscribe(listener);
  };

  // ---------------------------------------------------------------- workers

  readonly claim: TaskStore["claim"] = async ({ worker, most, leaseMs, ...wanted }) => {
    const tools = new Set(wanted.tools);
    // Most of the time nothing is due, and this look takes no lock.
    const idle = await this.#read(({ tasks }) => {
      const now = this.#now();
      if (most > 0 && tasks.due(tools, now, 1).length > 0) return undefined;
      return { claimed: [], nextDueAt: tasks.nextDueAt(tools, now), now };
    });
    if (idle !== undefined) return idle;
    return this.#write(({ tasks, history }) => {
      const now = this.#now();
      const claimed = tasks.due(tools, now, most).flatMap((id): ClaimedTask[] => {
        const task = tasks.byId(id);
        const next = task && moves.claimed(task, worker, leaseMs, now);
        if (next === undefined) return [];
        tasks.update(next, history.ended(next, endedRun(task, next, now)));
        return [{ task: next, log: tasks.wholeLog(next), before: task?.worker }];
      });
      return { claimed, nextDueAt: tasks.nextDueAt(tools, now), now };
    });
  };

  readonly renew: TaskStore["renew"] = (worker, refs, leaseMs) =>
    this.#write(({ tasks, workers }) => {
      const now = this.#now();
      workers.seen(worker, now);
      const held = refs.flatMap((ref) => {
        const task = this.#asOfNow(tasks.byId(ref.id));
        const next = task && moves.renewed(task, ref, leaseMs, now);
        if (next === undefined) return [];
        tasks.renew(next);
        return [{ id: next.id, inbox: next.inbox, ...(isUndoing(next) && { isUndoing: true }) }];
      });
      return { held, now };
    });

  readonly append: TaskStore["append"] = (ref, more) =>
    this.#write(({ tasks, parts }, _changed, hint) => {
      const task = this.#asOfNow(tasks.byId(ref.id));
      if (task !== undefined && moves.wasAppended(task, ref, more)) return true;
      const next = task && moves.appended(task, ref, more);
      if (next === undefined) return false;
      tasks.appendLog(ref, more, this.#now());
      tasks.update(next);
      if (more.streamed !== undefined) {
        parts.delete(ref.id, more.streamed);
        hint(partsHint(ref.id));
      }
      return true;
    });

  readonly addParts: TaskStore["addParts"] = (ref, added) =>
    this.#write(({ tasks, parts }, _changed, hint) => {
      const task = this.#asOfNow(tasks.byId(ref.id));
      if (task === undefined || !moves.holds(task, ref)) return false;
      parts.add(ref, added);
      hint(partsHint(ref.id));
      return true;
    });

  readonly publish: TaskStore["publish"] = (ref, waiting) =>
    this.#move(ref, (task) => moves.published(task, ref, waiting, this.#now()));

  readonly park: TaskStore["park"] = (ref, parking) =>
    this.#move(ref, (task) => moves.parked(task, ref, parking, this.#now()), {
      append: parking.append,
    });

  readonly release: TaskStore["release"] = (ref, why) =>
    this.#move(ref, (task) => moves.released(task, ref, why, this.#now()));

  readonly report: TaskStore["report"] = (ref, message) =>
    this.#move(ref, (task) => moves.reported(task, ref, message, this.#now()));

  readonly finish: TaskStore["finish"] = (ref, finish) =>
    this.#move(ref, (task) => moves.finished(task, ref, finish, this.#now()), {
      append: finish.append,
      wasDone: (task) => moves.wasFinished(task, ref, finish),
    });

  readonly undo: TaskStore["undo"] = (ref, progress) =>
    this.#write(({ tasks, history }, changed) => {
      const task = tasks.byId(ref.id);
      if (task !== undefined && wasUndone(task, ref, progress)) return true;
      const next = task && undone(task, ref, progress, this.#now());
      if (next === undefined) return false;
      tasks.appendLog(ref, progress, this.#now());
      const ended = history.ended(next, endedRun(task, next, this.#now()));
      tasks.update(changed(next, false), ended);
      return true;
    });

  readonly leave: TaskStore["leave"] = (worker) =>
    this.#write(({ workers }) => workers.leave(worker));

  readonly workers: TaskStore["workers"] = () =>
    this.#read(({ workers }) => ({ now: this.#now(), workers: workers.all() }));

  readonly sweep: TaskStore["sweep"] = (limit, keepMs, unreadMs, undoMs) =>
    this.#write((tables, changed) =>
      sweep(tables, this.#now(), { limit, keepMs, unreadMs, undoMs, changed }),
    );

  // ---------------------------------------------------------------- limits of a caller

  readonly usage: TaskStore["usage"] = (principal) =>
    this.#read(({ tasks, parts, spills, rounds }) => {
      const usage = tasks.usage(principal);
      const others = [parts, spills, rounds].map((table) => table.bytes(principal));
      return { ...usage, bytes: others.reduce((sum, bytes) => sum + bytes, usage.bytes) };
    });

  readonly countEnded = (principal: string): Promise<number> =>
    this.#read(({ tasks }) => tasks.countEnded(principal));

  readonly removeEnded: TaskStore["removeEnded"] = (principal, limit, keepMs) =>
    this.#write(({ tasks }, changed) => {
      const removed = removeEnded(tasks, principal, limit, this.#now(), keepMs);
      for (const task of removed) changed(task);
      return removed.length;
    });

  // ---------------------------------------------------------------- operators

  readonly figures: TaskStore["figures"] = () =>
    this.#read(({ tasks }) => tasks.figures(this.#now()));

  readonly reader: TaskReader = {
    find: (query) => this.#read(({ history }) => history.find(query, this.#now())),
    waiting: (query) => this.#read(({ history }) => history.waiting(query)),
    log: (...of) => this.#read(({ history }) => history.log(...of)),
    runs: (id) => this.#read(({ history }) => history.runs(id)),
  };

  // ---------------------------------------------------------------- rounds

  readonly spill: TaskStore["spill"] = (id, state, ttlMs, principal) =>
    this.#write(({ spills }) => spills.put(id, state, this.#now() + ttlMs, principal));

  readonly countSpilled: TaskStore["countSpilled"] = (principal, prefix) =>
    this.#read(({ spills }) => spills.count(principal, prefix, this.#now()));

  readonly spilled: TaskStore["spilled"] = (id) =>
    this.#read(({ spills }) => spills.read(id, this.#now())?.state);

  readonly filled: TaskStore["filled"] = (id) =>
    this.#read(({ spills }) => spills.read(id, this.#now())?.answer);

  readonly fill: TaskStore["fill"] = (id, answer) =>
    this.#write(({ spills }) => {
      const spill = spills.read(id, this.#now());
      if (spill?.answer !== undefined) return "full";
      if (spill !== undefined) spills.fill(id, answer);
      return spill === undefined ? "gone" : "filled";
    });

  readonly claimRound: TaskStore["claimRound"] = (claim) =>
    this.#write(({ rounds }) => rounds.claim(claim, this.#now()));

  readonly renewRound: TaskStore["renewRound"] = (ref, leaseMs) =>
    this.#moveRound(ref, (round) => ({ ...round, leaseUntil: this.#now() + leaseMs }));

  readonly appendToRound: TaskStore["appendToRound"] = (ref, at, record) =>
    this.#write(({ rounds }) => {
      const round = rounds.byCall(ref.id);
      if (round?.epoch !== ref.epoch) return false;
      if (round.logLength === at + 1) return true;
      if (round.logLength !== at || round.response !== undefined) return false;
      rounds.appendLog(ref.id, at, record);
      rounds.put({ ...round, logLength: at + 1 });
      return true;
    });

  readonly endRound: TaskStore["endRound"] = (ref, response) =>
    this.#moveRound(ref, (round) => ({ ...round, response }));

  readonly releaseRound: TaskStore["releaseRound"] = (ref) =>
    this.#moveRound(ref, (round) => ({ ...round, leaseUntil: this.#now() }));

  readonly accounts: TaskStore["accounts"] = sqliteAccounts({
    read: (operation) => this.#read(({ accounts }) => operation(accounts)),
    write: (operation) => this.#write(({ accounts }) => operation(accounts)),
    now: () => this.#now(),
  });

  // ---------------------------------------------------------------- transactions

  #asOfNow(task: TaskRecord | undefined): TaskRecord | undefined {
    return task && asOf(task, this.#now());
  }

  #move(
    ref: ClaimRef,
    move: (task: TaskRecord) => TaskRecord | undefined,
    { append, wasDone }: Along = {},
  ): Promise<boolean> {
    return this.#write(({ tasks, history }, changed) => {
      const task = this.#asOfNow(tasks.byId(ref.id));
      if (task === undefined) return false;
      if (wasDone?.(task) === true) return true;
      const next = move(task);
      if (next === undefined) return false;
      if (append !== undefined) tasks.appendLog(ref, append, this.#now());
      tasks.update(changed(next, false), history.ended(next, endedRun(task, next, this.#now())));
      return true;
    });
  }

  #moveRound({ id, epoch }: ClaimRef, move: (round: RoundRecord) => RoundRecord): Promise<boolean> {
    return this.#write(({ rounds }) => {
      const round = rounds.byCall(id);
      if (round?.epoch !== epoch || round.response !== undefined) return false;
      rounds.put(move(round));
      return true;
    });
  }

  #read<T>(operation: (tables: OpenFile) => T): Promise<T> {
    return this.#do(async (connection) => {
      try {
        return operation(connection);
      } catch (error) {
        if (!isBusy(error)) throw error;
      }
      return this.#noted(patiently(() => operation(connection)));
    });
  }

  #write<T>(
    operation: (tables: Tables, changed: Changed, hint: (hint: ChangeHint) => void) => T,
  ): Promise<T> {
    return this.#do(async (connection) => {
      // The list starts empty with every attempt, because an attempt that was rolled back has changed nothing.
      let seen: ChangeHint[] = [];
      const changed: Changed = (task, isNews = true) => {
        seen.push({ id: task.id, isDue: moves.isDue(task, this.#now()), isNews, task });
        return task;
      };
      const hint = (one: ChangeHint) => void seen.push(one);
      const value = await connection.commits.run(() => {
        seen = [];
        return operation(connection, changed, hint);
      });
      for (const one of seen) this.#hints.announce(one);
      return value;
    });
  }

  /** Most of the time the file is open, and nothing is waited for. */
  #do<T>(operation: (connection: OpenFile) => Promise<T>): Promise<T> {
    const connection = this.#isClosed ? undefined : this.#connection;
    return connection === undefined
      ? this.#noted(this.#open().then(operation))
      : operation(connection);
  }

  /** Closing waits for what is under way. */
  async #noted<T>(doing: Promise<T>): Promise<T> {
    this.#underWay.add(doing);
    try {
      return await doing;
    } finally {
      this.#underWay.delete(doing);
    }
  }

  async #open(): Promise<OpenFile> {
    if (this.#isClosed) throw new Error("The SQLite store is closed.");
    this.#connecting ??= this.#connect();
    return this.#connecting;
  }

  async #connect(): Promise<OpenFile> {
    try {
      const path = this.#path;
      const database = await (typeof path === "string" ? openDatabase(path) : path());
      const version = typeof path === "string" ? versionOf(database) : undefined;
      const rows = new KnownRows(version);
      this.#connection = {
        database,
        rows,
        commits: new GroupCommit(knowing(rows, database)),
        version,
        accounts: new AccountTable(database),
        tasks: new TaskTable(database, rows),
        history: new HistoryTable(database),
        parts: new PartTable(database),
        rounds: new RoundTable(database),
        spills: new SpillTable(database),
        workers: new WorkerTable(database),
        audit: new AuditTable(database),
      };
      return this.#connection;
    } catch (error) {
      // The next operation tries again.
      this.#connecting = undefined;
      throw error;
    }
  }
}

/** The database, with transactions that keep the known rows true. */
const knowing = (rows: KnownRows, database: SqliteDatabase): SqliteDatabase => ({
  ...database,
  transaction: (operation) => {
    try {
      return inTransaction(database, () => {
        rows.start();
        return operation();
      });
    } catch (error) {
      rows.clear();
      throw error;
    }
  },
});

function versionOf({ prepare }: SqliteDatabase): () => number {
  const version = prepare("pragma data_version");
  return () => Number(version.all()[0]?.["data_version"]);
}
