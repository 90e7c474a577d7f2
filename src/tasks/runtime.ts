// Long on purpose: one member for each thing that the server does with tasks.
// The task engine as the server sees it: it creates, reads, answers, cancels and follows tasks, and it starts and
// drains a worker. Values are open here, and sealed in the store below.

import type { Entry, Sender } from "../replay/journal.ts";
import type { InboxEvent } from "../replay/inbox.ts";
import type { Json } from "../util/json.ts";
import { RenewedSignal } from "../util/renewed-signal.ts";
import { Approvals } from "./approvals.ts";
import { StoreClock } from "./clock.ts";
import { bytesOf } from "./moves.ts";
import { tooManyTasks, ttlTooLong } from "./limits.ts";
import type { TaskLimits } from "./limits.ts";
import { entryRecord, versionRecord } from "./execution/log-records.ts";
import { sealInput } from "./ownership.ts";
import { SnapshotReader } from "./reader.ts";
import { RecentSeals } from "./recent-seals.ts";
import { StorageShares } from "./shares.ts";
import { snapshotOf } from "./snapshot.ts";
import type { TaskSnapshot } from "./snapshot.ts";
import type { AnswerResult, ClaimedTask, CreateResult, StoreFigures, TaskStore } from "./store.ts";
import type { Answer, NewTask } from "./task.ts";
import { isLive } from "./task.ts";
import { objectionTo } from "./rehearse.ts";
import { deliverable, pageOf } from "./task-page.ts";
import type { TaskPage } from "./task-page.ts";
import { places, sealAnswer, sealJson } from "./sealing.ts";
import type { Sealer } from "./sealing.ts";
import { Followers } from "./follow.ts";
import type { TaskObserver } from "./observer.ts";
import { roundAnswers } from "./execution/round-answers.ts";
import { madeUp } from "./execution/waits.ts";
import type { TaskError } from "./program.ts";
import { ProcessWork } from "./process-work.ts";
import type { StreamPart } from "./streams/pieces.ts";
import { RunningStreams } from "./streams/running-streams.ts";
import { StreamReading } from "./streams/stream-reading.ts";
import type { StreamsRead } from "./streams/stream-reading.ts";
import type { Programs, Reservation, Worker, WorkerOptions } from "./worker.ts";

/** What a runtime is made of. */
export interface RuntimeOptions {
  readonly store: TaskStore;
  readonly sealer: Sealer;
  readonly programs: Programs;
  readonly limits: TaskLimits;
  readonly observer: TaskObserver;
  readonly isDevelopment?: boolean | undefined;
  /** The version of the app, which each run notes (R17). */
  readonly version?: string | undefined;
  /** Makes a task id: 128 random bits that are safe in a URL and in a header. */
  readonly newId: () => string;
}

/** A call that becomes a task. */
export interface Promotion {
  readonly callId: string;
  readonly tool: string;
  readonly principal: string | undefined;
  /** What its program needs in every run, such as the arguments. */
  readonly input: Json;
  /** The journal of its rounds. These steps do not run again, and these questions are not asked again. */
  readonly entries: readonly Entry[];
  /** Answers from its rounds that the handler has not received yet. */
  readonly unused: readonly InboxEvent[];
  /** How long the task may live, in milliseconds. Undefined: as long as the limits allow. */
  readonly ttlMs: number | undefined;
}

/** A call that ended in its rounds. */
export interface EndedCall extends Pick<Promotion, "callId" | "tool" | "principal" | "entries"> {
  /** Why it failed. Undefined if its client has cancelled it. */
  readonly error: TaskError | undefined;
}

/** What became of a delivery. */
export type Delivery = "delivered" | "already_answered" | "gone";

/** The task engine of one process. */
export class TaskRuntime {
  /** How much of the store each caller uses. */
  readonly shares: StorageShares;
  readonly approvals: Approvals;
  readonly #options: RuntimeOptions;
  readonly #reader: SnapshotReader;
  readonly #clock = new StoreClock();
  readonly #streams: RunningStreams;
  /** Aborts when this process stops, so that its readers go on elsewhere. */
  readonly #readings = new RenewedSignal();
  #followers: Followers | undefined;
  #ready: Promise<void> | undefined;

  constructor(given: RuntimeOptions) {
    const options = { ...given, sealer: new RecentSeals(given.sealer) };
    this.#options = options;
    this.#reader = new SnapshotReader(options);
    this.approvals = new Approvals(options, this.#reader);
    this.shares = new StorageShares(options.store, options.limits, options.observer);
    this.#streams = new RunningStreams(options.store);
    const deps = { ...options, clock: this.#clock, shares: this.shares, streams: this.#streams };
    this.process = new ProcessWork(deps, () => this.ready());
  }

  /** Brings the tables of the store up to date. If that fails, the next call tries again. */
  ready(): Promise<void> {
    this.#ready ??= this.#options.store.migrate().catch((error: unknown) => {
      this.#ready = undefined;
      throw error;
    });
    return this.#ready;
  }

  // ---------------------------------------------------------------- for anyone

  /** Creates the task of a call. The same call always gets the same task. Throws a ParleyError if a limit is reached. */
  async create(call: Promotion): Promise<TaskSnapshot> {
    await this.ready();
    const { store, sealer, limits, observer, version } = this.#options;
    const { callId, tool, input, entries } = call;
    const ttlMs = call.ttlMs ?? limits.taskTtlMs;
    if (!Number.isInteger(ttlMs) || ttlMs < 1 || ttlMs > limits.taskTtlMs) {
      throw ttlTooLong(tool, ttlMs, limits.taskTtlMs);
    }
    const log = entries.map((entry, seq) => entryRecord(sealer, callId, seq, entry));
    if (version !== undefined && log.length > 0) {
      log.push(versionRecord(sealer, callId, log.length, version));
    }
    const owned = this.#owned({ callId, tool, principal: call.principal ?? "" });
    const task = {
      ...owned,
      input: sealInput(sealer, owned, input),
      log,
      inbox: roundAnswers(sealer, callId, call.unused),
      undos: begunIn(entries),
      ttlMs,
    };
    const bytes = task.input.length + bytesOf(log);
    const what = `The task of "${tool}"`;
    const creation = await this.shares.write(owned.principal, bytes, what, () => {
      // If the worker here has room, it runs the task at once, without claiming it from the store.
      const place = this.worker?.reserve(tool, true);
      const claimedBy = place && { worker: place.worker, leaseMs: store.leaseMs };
      return this.#created({ ...task, claimedBy }, place);
    });
    if (creation.kind === "too many") {
      observer.limitReached(owned.principal, "tasksPerPrincipal", limits.tasksPerPrincipal);
      throw tooManyTasks(tool, limits.tasksPerPrincipal);
    }
    if (creation.kind === "created") observer.created(creation.task);
    return snapshotOf(sealer, creation.task);
  }

  /** Gives a new task its id. */
  #owned<T extends { readonly principal: string }>(task: T): T & { readonly id: string } {
    const { newId, store } = this.#options;
    const id = newId();
    return { ...task, id: store.idFor?.(id, task.principal) ?? id };
  }

  /**
   * Lets a worker undo the steps of a call that ended in its rounds: the call becomes a task that has already ended.
   * The same call always gets the same task. No limit prevents it.
   */
  async undo({ callId, tool, principal = "", entries, error }: EndedCall): Promise<void> {
    await this.ready();
    const { store, sealer, limits, observer } = this.#options;
    const owned = this.#owned({ callId, tool, principal });
    const task: NewTask = {
      ...owned,
      input: sealInput(sealer, owned, {}),
      log: entries.map((entry, seq) => entryRecord(sealer, callId, seq, entry)),
      inbox: [],
      undos: begunIn(entries),
      ended:
        error === undefined
          ? { status: "cancelled", result: undefined }
          : { status: "failed", result: sealJson(sealer, { ...error }, places.result(callId)) },
      ttlMs: limits.keepMs,
      claimedBy: undefined,
    };
    await store.create(task, Infinity);
    observer.leftUndone?.();
  }

  async #created(task: NewTask, place: Reservation | undefined): Promise<CreateResult> {
    const { store, limits } = this.#options;
    let creation: CreateResult | undefined;
    try {
      creation = await store.create(task, limits.tasksPerPrincipal);
      return creation;
    } finally {
      if (creation?.kind === "created") {
        place?.adopt({ task: creation.task, log: task.log, before: undefined });
      } else {
        place?.giveUp();
      }
    }
  }

  /** Reads a task. */
  async get(id: string): Promise<TaskSnapshot | undefined> {
    await this.ready();
    const task = await this.#options.store.read(id);
    return task && this.#reader.open(task);
  }

  /** Lists the tasks of a caller, newest first. */
  async list(
    principal: string | undefined,
    after: { readonly createdAt: number; readonly id: string } | undefined,
    limit: number,
  ): Promise<readonly TaskSnapshot[]> {
    await this.ready();
    const { store } = this.#options;
    const tasks = await store.list({ principal: principal ?? "", after, limit });
    return this.#reader.openAll(tasks);
  }

  /**
   * Answers questions of the client, by wire key. Keys that are unknown, that have an answer already, or that are not
   * for the client to answer are ignored. Resolves to undefined if there is no such task.
   */
  async update(
    id: string,
    answers: ReadonlyMap<string, Json>,
  ): Promise<{ readonly accepted: readonly string[] } | undefined> {
    const task = await this.toAnswer(id, answers.keys());
    return task && this.answer(task, answers);
  }

  /**
   * The task for an answer to these questions. If a follower in this process has seen all of them, the task is not read:
   * a wire key is used once, so what it names does not change.
   */
  async toAnswer(id: string, wires: Iterable<string>): Promise<TaskSnapshot | undefined> {
    const shown = this.#followers?.shown(id);
    const isSeen = shown !== undefined && [...wires].every((wire) => shown.questionKeys.has(wire));
    return isSeen ? shown : this.get(id);
  }

  /** The same for a task that has just been read. A wire key is used once, so what was read cannot be out of date. */
  async answer(
    task: Pick<TaskSnapshot, "id" | "callId" | "tool" | "principal" | "questionKeys" | "updatedAt">,
    answers: ReadonlyMap<string, Json>,
    from: Sender = {},
  ): Promise<{ readonly accepted: readonly string[] } | undefined> {
    const { sealer, observer } = this.#options;
    const { id, callId, tool, principal = "", questionKeys: keys } = task;
    // In the order that the questions were asked.
    const given = [...keys].flatMap(([wire, asked]) => {
      const value = answers.get(wire);
      if (value === undefined) return [];
      return [{ wire, value: sealAnswer(sealer, callId, value, asked, from) }];
    });
    if (given.length === 0) return { accepted: [] };
    const bytes = bytesOf(given.map(({ value }) => value));
    await this.shares.grow(principal, bytes, `The answer to "${tool}"`);
    const answered = await this.#answer(id, tool, given);
    if (answered !== undefined && answered.accepted.length > 0) {
      observer.answered?.(task, answered.task.updatedAt - task.updatedAt);
    }
    return answered && { accepted: answered.accepted };
  }

  /** Stores answers. If they wake the task and the worker here has room, it goes on with the task at once. */
  async #answer(
    id: string,
    tool: string,
    answers: readonly Answer[],
  ): Promise<AnswerResult | undefined> {
    const { store } = this.#options;
    const place = this.worker?.reserve(tool, false);
    let claimed: ClaimedTask | undefined;
    try {
      const by = place && { worker: place.worker, leaseMs: store.leaseMs };
      const answered = await store.answer(id, answers, by);
      claimed = answered?.claimed;
      return answered;
    } finally {
      if (claimed === undefined) place?.giveUp();
      else place?.adopt(claimed);
    }
  }

  /** Cancels a task that is live. Resolves to undefined if there is no such task. */
  async cancel(id: string, by?: Sender): Promise<TaskSnapshot | undefined> {
    await this.ready();
    const { store, sealer, limits, observer } = this.#options;
    const before = await store.read(id);
    const task = await store.cancel(id, limits.keepMs);
    // If several requests cancel the task, one of them ends it.
    const isNews = before !== undefined && isLive(before) && task?.revision !== before.revision;
    if (task?.status === "cancelled" && isNews) await observer.cancelled(task, by);
    return task && snapshotOf(sealer, task);
  }

  /** Answers a question whose answer does not come from the client. The first answer wins. */
  async deliver(
    callId: string,
    key: string,
    digest: string,
    value: Json,
    from: Sender = {},
  ): Promise<Delivery> {
    await this.ready();
    const { store, sealer, observer } = this.#options;
    let task = await store.readByCall(callId);
    // Tries again if the question was asked, or asked anew, between the read and the answer.
    for (let tries = 0; tries < 10; tries += 1) {
      if (task === undefined || !isLive(task)) return "gone";
      if (!this.#reader.isWhatWasSealed(task)) return "gone";
      const wait = deliverable(task, key);
      if (wait?.kind === "question" && wait.digest !== digest) return "gone";
      const asked = { key, digest: wait === undefined ? digest : (wait.digest ?? "") };
      const sealed = sealAnswer(sealer, callId, value, asked, from);
      const answered = await this.#answer(task.id, task.tool, [
        wait === undefined
          ? { wire: madeUp(`early-${key}`), value: sealed, early: asked }
          : { wire: wait.wire, value: sealed },
      ]);
      const arrived = answered?.task.inbox.find(({ id }) => answered.accepted.includes(id));
      // The answer came after the time limit, which wins (R7). The sender must not think that it was delivered.
      if (arrived?.dueAt !== undefined && arrived.dueAt <= arrived.at) return "gone";
      if (arrived !== undefined) {
        if (wait !== undefined) observer.answered?.(task, arrived.at - task.updatedAt);
        return "delivered";
      }
      task = answered?.task;
      // The question has an answer that is not checked yet. It is asked again only if that answer is not valid.
      if (task !== undefined && isLive(task) && deliverable(task, key) === undefined) break;
    }
    return "already_answered";
  }

  /** A question of a call as its page shows it, and where it stands. Undefined if the call is not a task. */
  async page(callId: string, key: string): Promise<TaskPage | undefined> {
    await this.ready();
    const task = await this.#options.store.readByCall(callId);
    return task && pageOf(this.#options.sealer, task, key, this.#reader.isWhatWasSealed(task));
  }

  /**
   * Why this value cannot answer the question, as its handler would say. Undefined if it can, if it would come too late
   * anyway, or if this process cannot tell, for example because it does not have the tool.
   */
  async objection(callId: string, key: string, value: Json): Promise<string | undefined> {
    await this.ready();
    return objectionTo(value, callId, key, { ...this.#options, clock: this.#clock });
  }

  /** Yields every state of a task after revision `since`, until the task ends or the signal aborts. */
  watch(id: string, since: number, signal: AbortSignal): AsyncIterable<TaskSnapshot> {
    return this.#following().follow(id, since, signal, this.#reader.open);
  }

  #following(): Followers {
    const { store, observer } = this.#options;
    if (store.isPerRequest === true) return new Followers(store, observer);
    this.#followers ??= new Followers(store, observer);
    return this.#followers;
  }

  /** Which of these tasks the caller can follow. It reads no contents, however large the tasks are. */
  async own(ids: readonly string[], principal: string | undefined): Promise<string[]> {
    await this.ready();
    const revisions = await this.#options.store.revisions(ids, principal ?? "");
    return ids.filter((id) => revisions.has(id));
  }

  /**
   * Yields the states of many tasks of one caller, one at a time and at the pace of the reader, until all have ended or
   * the signal aborts. Changes of a task within `gapMs` share a state. A task that does not open is passed to `failed`.
   */
  watchAll(
    ids: readonly string[],
    principal: string | undefined,
    gapMs: number,
    signal: AbortSignal,
    failed: (error: unknown) => void,
  ): AsyncIterable<TaskSnapshot> {
    return this.#following().followAll(ids, gapMs, signal, (task) => {
      if (task.principal !== (principal ?? "")) return undefined;
      try {
        return this.#reader.open(task);
      } catch (error) {
        failed(error);
        return undefined;
      }
    });
  }

  /**
   * Reads the streams of a task, after a cursor of an earlier reading. See `StreamReading`, whose errors it throws. The caller
   * has checked whose task it is.
   */
  readStreams(
    task: Pick<TaskSnapshot, "id" | "callId">,
    after: string | undefined,
    signal: AbortSignal,
  ): AsyncGenerator<StreamPart, StreamsRead | undefined> {
    const { store, sealer, observer } = this.#options;
    const { open } = this.#reader;
    const deps = { store, sealer, observer, clock: this.#clock, streams: this.#streams, open };
    // A Worker refuses a signal that another request has made.
    const isAlone = store.isPerRequest === true;
    const ends = isAlone ? signal : AbortSignal.any([signal, this.#readings.signal]);
    return new StreamReading(deps, task, after).parts(ends);
  }

  // ---------------------------------------------------------------- for this process

  /** What this process runs: its worker, and rounds that the store records. */
  readonly process: ProcessWork;

  /** The worker of this process, once it is started. */
  get worker(): Worker | undefined {
    return this.process.worker;
  }

  /** Starts a worker in this process. See `ProcessWork`. */
  start(options: WorkerOptions): Promise<boolean> {
    return this.process.start(options);
  }

  /** Stops the worker. Its tasks continue in other processes. */
  drain(): Promise<void> {
    this.#readings.abort();
    this.#reader.flush();
    return this.process.drain();
  }

  /** Counts the tasks in each state. */
  async figures(): Promise<StoreFigures> {
    await this.ready();
    return this.#options.store.figures();
  }
}

/** How many steps of a journal would be undone if the call ended badly. */
const begunIn = (entries: readonly Entry[]): number =>
  entries.filter(({ kind }) => kind === "begun").length;
