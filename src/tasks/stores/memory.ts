// Long on purpose: one member for each operation of a store.
// Tasks in the memory of this process, for tests. Nothing here outlives the process.

import type { ClaimedTask, CreateResult, ChangeHint, SweepResult, TaskStore } from "../store.ts";
import type { TaskReader } from "../task-reader.ts";
import { decided } from "../approval-moves.ts";
import type { ApprovalStore } from "../approval-store.ts";
import { asOf } from "../expiry.ts";
import * as moves from "../moves.ts";
import { MemoryAccounts } from "./memory-accounts.ts";
import { MemoryAudit } from "./memory-audit.ts";
import { MemoryHistory } from "./memory-history.ts";
import { MemoryParts } from "./memory-parts.ts";
import { MemoryRounds } from "./memory-rounds.ts";
import { MemorySpills } from "./memory-spills.ts";
import { undone, wasUndone } from "../undo-moves.ts";
import { earliestDue, newestFirst } from "./memory-rows.ts";
import { taskBytes } from "../task-bytes.ts";
import { endsParts } from "../stored-parts.ts";
import { partsHint } from "./parts-hint.ts";
import { recordBytes } from "../store.ts";
import { isLive, isUndoing } from "../task.ts";
import type { ClaimRef, LogAppend, Sealed, TaskRecord } from "../task.ts";

const dayMs = 24 * 3_600_000;

/** A task store in memory. It is also the model that other stores are compared with. */
export class MemoryStore implements TaskStore {
  readonly "~store" = "memory";
  readonly leaseMs: number;
  readonly appendsWithNext = true;
  readonly #now: () => number;
  readonly #tasks = new Map<string, TaskRecord>();
  readonly #logs = new Map<string, Sealed[]>();
  readonly #parts = new MemoryParts();
  readonly #history = new MemoryHistory();
  readonly reader: TaskReader;
  readonly #workers = new Map<string, number>();
  readonly #spills: MemorySpills;
  readonly #rounds: MemoryRounds;
  readonly accounts: MemoryAccounts;
  readonly audit: MemoryAudit;
  readonly #listeners = new Set<(hint: ChangeHint) => void>();

  constructor(options: { readonly leaseMs?: number; readonly now?: () => number } = {}) {
    this.leaseMs = options.leaseMs ?? 10_000;
    this.#now = options.now ?? Date.now;
    this.#spills = new MemorySpills(this.#now);
    this.#rounds = new MemoryRounds(this.#now);
    this.accounts = new MemoryAccounts(this.#now);
    this.audit = new MemoryAudit(this.#now);
    this.reader = this.#history.reader(this.#tasks, this.#logs, this.#now);
  }

  readonly close: TaskStore["close"] = async () => this.#listeners.clear();
  readonly migrate: TaskStore["migrate"] = async () => {};

  // ---------------------------------------------------------------- anyone

  readonly create: TaskStore["create"] = async (task, most): Promise<CreateResult> => {
    const existing = this.#byCall(task.callId);
    if (existing !== undefined) return { kind: "exists", task: existing };
    const isOwn = ({ principal }: TaskRecord) => principal === task.principal;
    if (this.#live().filter(isOwn).length >= most) return { kind: "too many" };
    this.#logs.set(task.id, [...task.log]);
    this.#history.logged(task.id, 0, { records: task.log }, this.#now());
    return { kind: "created", task: this.#put(moves.created(task, this.#now())) };
  };

  readonly read: TaskStore["read"] = async (id) => this.#task(id);
  readonly readByCall: TaskStore["readByCall"] = async (callId) => this.#byCall(callId);
  readonly readLog: TaskStore["readLog"] = async (id, from = 0) =>
    (this.#logs.get(id) ?? []).slice(from);
  readonly hearsOthers = (): boolean => true;

  readonly readParts: TaskStore["readParts"] = async (id, after) => {
    const task = this.#tasks.get(id);
    if (task === undefined) return undefined;
    const { epoch, logLength } = task;
    const { revision } = asOf(task, this.#now());
    const parts = this.#parts.after(id, after.epoch === epoch ? after.n : -Infinity);
    return { epoch, logLength, revision, parts };
  };

  readonly list: TaskStore["list"] = async ({ principal, after, limit }) =>
    [...this.#tasks.values()]
      .map((task) => asOf(task, this.#now()))
      .filter(({ rest }) => rest === undefined)
      .filter((task) => principal === undefined || task.principal === principal)
      .toSorted(newestFirst)
      .filter((task) => after === undefined || newestFirst(task, after) > 0)
      .slice(0, limit);

  readonly answer: TaskStore["answer"] = async (id, answers, worker) => {
    const task = this.#task(id);
    if (task === undefined) return undefined;
    const next = moves.answered(task, answers, this.#now());
    if (next === undefined) return { task, accepted: [] };
    const before = new Set(task.inbox);
    const accepted = next.inbox
      .filter((arrived) => !before.has(arrived))
      .map(({ id: wire }) => wire);
    const held = worker && moves.claimedAnswered(next, worker, this.#now());
    if (held === undefined) return { task: this.#put(next), accepted };
    const log = [...(this.#logs.get(id) ?? [])];
    this.#put(held, "holder's");
    return { task: held, accepted, claimed: { task: held, log, before: undefined } };
  };

  readonly approvals: ApprovalStore = {
    decide: async (id, wire, decision) => {
      const task = this.#task(id);
      const result = task && decided(task, wire, decision, this.#now());
      if (result !== undefined && result.task !== task) this.#put(result.task);
      return result;
    },
  };

  readonly cancel: TaskStore["cancel"] = async (id, keepMs) => {
    const task = this.#task(id);
    const next = task && moves.cancelled(task, this.#now(), keepMs);
    return next === undefined ? task : this.#put(next);
  };

  readonly requeue: TaskStore["requeue"] = async (id, which) => {
    const task = this.#task(id);
    const next = task && moves.requeued(task, which, this.#now());
    return task && { task: next ? this.#put(next) : task, isRequeued: next !== undefined };
  };

  readonly noteRead: TaskStore["noteRead"] = async (ids) => {
    for (const id of ids) {
      const task = this.#tasks.get(id);
      const next = task && moves.noted(task);
      if (next !== undefined) this.#put(next, "unseen");
    }
  };

  readonly revisions: TaskStore["revisions"] = async (ids, principal) =>
    new Map(
      ids.flatMap((id) => {
        const task = this.#task(id);
        if (task === undefined) return [];
        const isTheirs = principal !== undefined && task.principal !== principal;
        const isGone = principal !== undefined && task.rest === "removed";
        return isTheirs || isGone ? [] : [[id, task.revision]];
      }),
    );

  readonly subscribe: TaskStore["subscribe"] = (listener) => {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  };

  // ---------------------------------------------------------------- workers

  readonly claim: TaskStore["claim"] = async ({ worker, tools, most, leaseMs }) => {
    const now = this.#now();
    const claimed: ClaimedTask[] = [];
    const due = () =>
      [...this.#tasks.values()]
        .filter((task) => (isLive(task) && task.expiresAt > now) || isUndoing(task))
        .filter((task) => tools.includes(task.tool))
        .toSorted(earliestDue);
    for (const task of due().slice(0, most)) {
      const next = moves.claimed(task, worker, leaseMs, now);
      if (next === undefined) break;
      const log = [...(this.#logs.get(task.id) ?? [])];
      claimed.push({ task: this.#put(next, "unseen"), log, before: task.worker });
    }
    return { claimed, nextDueAt: due()[0]?.dueAt, now };
  };

  readonly renew: TaskStore["renew"] = async (worker, refs, leaseMs) => {
    const now = this.#now();
    this.#workers.set(worker, now);
    const held = refs.flatMap((ref) => {
      const task = this.#task(ref.id);
      const next = task && moves.renewed(task, ref, leaseMs, now);
      if (next === undefined) return [];
      this.#put(next, "unseen");
      return [{ id: next.id, inbox: next.inbox, ...(isUndoing(next) && { isUndoing: true }) }];
    });
    return { held, now };
  };

  readonly append: TaskStore["append"] = async (ref, more) => {
    const task = this.#task(ref.id);
    if (task !== undefined && moves.wasAppended(task, ref, more)) return true;
    const next = task && moves.appended(task, ref, more);
    if (next === undefined) return false;
    this.#log(ref, more);
    this.#put(next, "unseen");
    if (more.streamed !== undefined) {
      this.#parts.recorded(ref.id, more.streamed);
      this.#announce(partsHint(ref.id));
    }
    return true;
  };

  readonly addParts: TaskStore["addParts"] = async (ref, parts) => {
    const task = this.#task(ref.id);
    if (task === undefined || !moves.holds(task, ref)) return false;
    this.#parts.add(ref.id, parts);
    this.#announce(partsHint(ref.id));
    return true;
  };

  readonly publish: TaskStore["publish"] = async (ref, waiting) =>
    this.#move(ref, (task) => moves.published(task, ref, waiting, this.#now()));

  readonly park: TaskStore["park"] = async (ref, parking) =>
    this.#move(ref, (task) => moves.parked(task, ref, parking, this.#now()), parking.append);

  readonly release: TaskStore["release"] = async (ref, why) =>
    this.#move(ref, (task) => moves.released(task, ref, why, this.#now()));

  readonly report: TaskStore["report"] = async (ref, message) =>
    this.#move(ref, (task) => moves.reported(task, ref, message, this.#now()));

  readonly finish: TaskStore["finish"] = async (ref, finish) => {
    const task = this.#task(ref.id);
    if (task !== undefined && moves.wasFinished(task, ref, finish)) return true;
    const end = (held: TaskRecord) => moves.finished(held, ref, finish, this.#now());
    return this.#move(ref, end, finish.append);
  };

  readonly undo: TaskStore["undo"] = async (ref, progress) => {
    const task = this.#tasks.get(ref.id);
    if (task !== undefined && wasUndone(task, ref, progress)) return true;
    return this.#move(ref, (held) => undone(held, ref, progress, this.#now()), progress);
  };

  readonly leave: TaskStore["leave"] = async (worker) => void this.#workers.delete(worker);
  readonly workers: TaskStore["workers"] = async () => {
    const workers = [...this.#workers].map(([name, seenAt]) => ({ name, seenAt }));
    return { now: this.#now(), workers };
  };

  readonly sweep: TaskStore["sweep"] = async (
    limit,
    keepMs,
    unreadMs,
    undoMs,
  ): Promise<SweepResult> => {
    const now = this.#now();
    const forgotten = [...this.#tasks.values()]
      .filter((task) => moves.isForgotten(task, now, undoMs))
      .slice(0, limit);
    for (const { id } of forgotten) {
      this.#tasks.delete(id);
      this.#logs.delete(id);
      this.#history.forget(id);
    }
    const resting = [...this.#tasks.values()].flatMap((task) => {
      const next = moves.laidToRest(task, now, keepMs, unreadMs, undoMs);
      return next === undefined ? [] : [next];
    });
    for (const task of resting.slice(0, limit)) {
      if (!isUndoing(task)) this.#logs.delete(task.id);
      this.#put(task);
    }
    const spills = this.#spills.sweep();
    const rounds = this.#rounds.sweep();
    for (const [id, seenAt] of this.#workers) if (seenAt <= now - dayMs) this.#workers.delete(id);
    const swept = resting.slice(0, limit);
    return {
      expired: swept.filter(({ rest }) => rest === "expired").length,
      removed: swept.filter(({ rest }) => rest === "removed").length,
      forgotten: forgotten.length,
      spills,
      rounds,
      isMore: swept.length >= limit || forgotten.length >= limit,
    };
  };

  // ---------------------------------------------------------------- limits of a caller

  readonly usage: TaskStore["usage"] = async (principal) => {
    const isOwn = (one: { readonly principal: string }) => one.principal === principal;
    const tasks = [...this.#tasks.values()].filter(
      (task) => isOwn(task) && task.rest === undefined,
    );
    const sizes = tasks.map((task) => taskBytes(task) + this.#parts.bytes(task.id));
    const live = tasks.filter(isLive).length;
    const bytes = sizes.reduce(
      (sum, size) => sum + size + recordBytes,
      this.#spills.bytes(principal) + this.#rounds.bytes(principal),
    );
    return { live, ended: tasks.length - live, bytes };
  };

  readonly countEnded = async (principal: string): Promise<number> =>
    [...this.#tasks.values()].filter(
      (task) => task.principal === principal && task.rest === undefined && !isLive(task),
    ).length;

  readonly removeEnded: TaskStore["removeEnded"] = async (principal, limit, keepMs) => {
    const now = this.#now();
    const oldest = [...this.#tasks.values()]
      .filter((task) => task.principal === principal)
      .toSorted((one, other) => newestFirst(other, one))
      .flatMap((task) => moves.removed(task, now, keepMs) ?? [])
      .slice(0, limit);
    for (const task of oldest) {
      this.#logs.delete(task.id);
      this.#put(task);
    }
    return oldest.length;
  };

  // ---------------------------------------------------------------- operators

  readonly figures: TaskStore["figures"] = async () => {
    const now = this.#now();
    const live = this.#live();
    const due = live
      .filter(({ dueAt }) => dueAt !== undefined && dueAt <= now)
      .toSorted(earliestDue);
    const seen = [...this.#workers.values()];
    return {
      now,
      live: live.length,
      held: live.filter(({ worker }) => worker !== undefined).length,
      parked: live.filter(({ worker, dueAt }) => worker === undefined && (dueAt ?? Infinity) > now)
        .length,
      inputRequired: live.filter(({ status }) => status === "input_required").length,
      due: due.length,
      oldestDueAt: due[0]?.dueAt,
      undoing: [...this.#tasks.values()].filter(isUndoing).length,
      workerSeenAt: seen.length === 0 ? undefined : Math.max(...seen),
    };
  };

  // ---------------------------------------------------------------- rounds

  readonly spill: TaskStore["spill"] = async (id, state, ttlMs, principal) =>
    this.#spills.put(id, state, ttlMs, principal);
  readonly spilled: TaskStore["spilled"] = async (id) => this.#spills.get(id)?.state;
  readonly countSpilled: TaskStore["countSpilled"] = async (principal, prefix) =>
    this.#spills.count(principal, prefix);
  readonly fill: TaskStore["fill"] = async (id, answer) => this.#spills.fill(id, answer);
  readonly filled: TaskStore["filled"] = async (id) => this.#spills.get(id)?.answer;

  readonly claimRound: TaskStore["claimRound"] = async (claim) => this.#rounds.claim(claim);
  readonly renewRound: TaskStore["renewRound"] = async (ref, leaseMs) =>
    this.#rounds.renew(ref, leaseMs);
  readonly appendToRound: TaskStore["appendToRound"] = async (ref, at, record) =>
    this.#rounds.append(ref, at, record);
  readonly endRound: TaskStore["endRound"] = async (ref, response) =>
    this.#rounds.end(ref, response);
  readonly releaseRound: TaskStore["releaseRound"] = async (ref) => this.#rounds.release(ref);

  // ---------------------------------------------------------------- helpers

  #live(): TaskRecord[] {
    return [...this.#tasks.values()].filter(isLive);
  }

  #byCall(callId: string): TaskRecord | undefined {
    const task = [...this.#tasks.values()].find((one) => one.callId === callId);
    return task && asOf(task, this.#now());
  }

  #task(id: string): TaskRecord | undefined {
    const task = this.#tasks.get(id);
    return task && asOf(task, this.#now());
  }

  #move(
    ref: ClaimRef,
    move: (task: TaskRecord) => TaskRecord | undefined,
    more?: Pick<LogAppend, "records">,
  ): boolean {
    const task = this.#task(ref.id);
    const next = task && move(task);
    if (next === undefined) return false;
    if (more !== undefined) this.#log(ref, more);
    this.#put(next, "holder's");
    return true;
  }

  #log({ id, epoch }: ClaimRef, more: Pick<LogAppend, "records" | "took">): void {
    this.#logs.get(id)?.push(...more.records);
    this.#history.logged(id, epoch, more, this.#now());
  }

  #put(task: TaskRecord, change: "seen" | "holder's" | "unseen" = "seen"): TaskRecord {
    const before = this.#tasks.get(task.id);
    if (endsParts(before, task)) this.#parts.delete(task.id);
    this.#history.changed(before, task, this.#now());
    this.#tasks.set(task.id, task);
    if (change === "unseen") return task;
    const isNews = change === "seen";
    const isDue = moves.isDue(task, this.#now());
    this.#announce({ id: task.id, isDue, isNews, task });
    return task;
  }

  #announce(hint: ChangeHint): void {
    queueMicrotask(() => {
      for (const listener of this.#listeners) listener(hint);
    });
  }
}
