// Long on purpose: a whole task store, one member for each operation.
//
// A small store: it keeps everything in one JSON file, for one process. It shows what a store consists of, and passes the contract.

import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import * as moves from "mcp-parley/store";
import type {
  ChangeHint,
  ClaimRef,
  LogAddition,
  Sealed,
  StoredPart,
  TaskRecord,
  TaskStore,
} from "mcp-parley/store";

interface Spill {
  readonly principal: string;
  readonly state: Sealed;
  readonly answer?: Sealed | undefined;
  readonly expiresAt: number;
}

interface Round {
  readonly principal: string;
  readonly round: number;
  readonly answers: string;
  readonly epoch: number;
  readonly leaseUntil: number;
  readonly log: readonly Sealed[];
  readonly response?: Sealed | undefined;
  readonly expiresAt: number;
}

// #region file
/** What the file holds, by id. */
interface Kept {
  readonly tasks: Map<string, TaskRecord>;
  readonly logs: Map<string, readonly Sealed[]>;
  readonly parts: Map<string, readonly StoredPart[]>;
  readonly spills: Map<string, Spill>;
  readonly rounds: Map<string, Round>;
  readonly workers: Map<string, number>;
}

/** The file. Nothing is awaited between reading and writing, so each operation of this process is atomic. */
class File {
  readonly #path: string;

  constructor(path: string) {
    this.#path = path;
  }

  read(): Kept {
    const text = existsSync(this.#path) ? readFileSync(this.#path, "utf8") : "{}";
    const found: Partial<Record<keyof Kept, [string, never][]>> = JSON.parse(text);
    return {
      tasks: new Map(found.tasks),
      logs: new Map(found.logs),
      parts: new Map(found.parts),
      spills: new Map(found.spills),
      rounds: new Map(found.rounds),
      workers: new Map(found.workers),
    };
  }

  /** Either all of it is written, or nothing. */
  write(kept: Kept): void {
    const entries = Object.entries(kept).map(([name, table]) => [name, [...table]]);
    writeFileSync(`${this.#path}.new`, JSON.stringify(Object.fromEntries(entries)), {
      flush: true,
    });
    renameSync(`${this.#path}.new`, this.#path);
  }
}
// #endregion file

const dayMs = 24 * 3_600_000;

/** Keeps tasks in a JSON file. */
export class JsonStore implements TaskStore {
  readonly "~store" = "json";
  readonly leaseMs = 10_000;
  /** `park` and `finish` write the records that they bring. */
  readonly appendsWithNext = true;
  readonly #file: File;
  readonly #now: () => number;
  readonly #listeners = new Set<(hint: ChangeHint) => void>();

  constructor(path: string, now: () => number = Date.now) {
    this.#file = new File(path);
    this.#now = now;
  }

  readonly migrate: TaskStore["migrate"] = async () => {};
  readonly close: TaskStore["close"] = async () => {};

  readonly subscribe: TaskStore["subscribe"] = (listener) => {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  };

  // #region moves
  /** Changes the file. */
  #change<T>(work: (kept: Kept, now: number) => T): T {
    const kept = this.#file.read();
    const result = work(kept, this.#now());
    this.#file.write(kept);
    return result;
  }

  /** Applies a move to a task. The result is what the move returned: undefined if it changed nothing. */
  #move(
    id: string,
    move: (task: TaskRecord, now: number, kept: Kept) => TaskRecord | undefined,
    hint: ChangeHint | "none" = { id },
  ): TaskRecord | undefined {
    const moved = this.#change((kept, now) => {
      const before = kept.tasks.get(id);
      const task = before && move(moves.asOf(before, now), now, kept);
      if (task !== undefined) put(kept, task);
      return task;
    });
    if (moved !== undefined) this.#announce(hint);
    return moved;
  }

  /** Adds records to the log of a task, unless the move that brings them has changed nothing. */
  #logged(
    kept: Kept,
    task: TaskRecord | undefined,
    more: Pick<LogAddition, "records"> | undefined,
  ): TaskRecord | undefined {
    if (task === undefined || more === undefined) return task;
    kept.logs.set(task.id, [...(kept.logs.get(task.id) ?? []), ...more.records]);
    return task;
  }

  /** Tells those who have subscribed to this store. Other processes look now and then. */
  #announce(hint: ChangeHint | "none"): void {
    if (hint === "none") return;
    queueMicrotask(() => {
      for (const listener of this.#listeners) listener(hint);
    });
  }

  readonly cancel: TaskStore["cancel"] = async (id, keepMs) =>
    this.#move(id, (task, now) => moves.cancelled(task, now, keepMs)) ?? this.read(id);

  readonly park: TaskStore["park"] = async (ref, parking) => {
    const park = (task: TaskRecord, now: number, kept: Kept) =>
      this.#logged(kept, moves.parked(task, ref, parking, now), parking.append);
    return this.#move(ref.id, park) !== undefined;
  };

  readonly append: TaskStore["append"] = async (ref, more) => {
    const task = await this.read(ref.id);
    // It was written before, and only its acknowledgement was lost.
    if (task !== undefined && moves.wasAppended(task, ref, more)) return true;
    const add = (held: TaskRecord, _now: number, kept: Kept) => {
      const next = this.#logged(kept, moves.appended(held, ref, more), more);
      if (next === undefined) return undefined;
      const others = (kept.parts.get(ref.id) ?? []).filter(({ key }) => key !== more.streamed);
      kept.parts.set(ref.id, others);
      return next;
    };
    // The log concerns the worker alone. Readers of a stream want to know when it is recorded.
    const hint = more.streamed === undefined ? "none" : partsHint(ref.id);
    return this.#move(ref.id, add, hint) !== undefined;
  };
  // #endregion moves

  readonly publish: TaskStore["publish"] = async (ref, waiting) =>
    this.#move(ref.id, (task, now) => moves.published(task, ref, waiting, now)) !== undefined;
  readonly release: TaskStore["release"] = async (ref, why) =>
    this.#move(ref.id, (task, now) => moves.released(task, ref, why, now)) !== undefined;
  readonly report: TaskStore["report"] = async (ref, message) =>
    this.#move(ref.id, (task, now) => moves.reported(task, ref, message, now)) !== undefined;

  readonly finish: TaskStore["finish"] = async (ref, finish) => {
    const task = await this.read(ref.id);
    if (task !== undefined && moves.wasFinished(task, ref, finish)) return true;
    const end = (held: TaskRecord, now: number, kept: Kept) =>
      this.#logged(kept, moves.finished(held, ref, finish, now), finish.append);
    return this.#move(ref.id, end) !== undefined;
  };

  readonly undo: TaskStore["undo"] = async (ref, progress) => {
    // As it is written, because a task whose time is up can still be undone.
    const task = this.#file.read().tasks.get(ref.id);
    if (task !== undefined && moves.wasUndone(task, ref, progress)) return true;
    const written = this.#move(ref.id, (held, now, kept) =>
      this.#logged(kept, moves.undone(held, ref, progress, now), progress),
    );
    return written !== undefined;
  };

  readonly addParts: TaskStore["addParts"] = async (ref, parts) => {
    const add = (task: TaskRecord, _now: number, kept: Kept) => {
      if (!moves.holds(task, ref)) return undefined;
      const before = kept.parts.get(ref.id) ?? [];
      const added = parts.filter((part) => before.every(({ n }) => n !== part.n));
      kept.parts.set(
        ref.id,
        [...before, ...added].toSorted((one, other) => one.n - other.n),
      );
      return task;
    };
    return this.#move(ref.id, add, partsHint(ref.id)) !== undefined;
  };

  // ---------------------------------------------------------------- anyone

  readonly create: TaskStore["create"] = async (task, most) =>
    this.#change((kept, now) => {
      const existing = byCall(kept, task.callId);
      if (existing !== undefined) return { kind: "exists", task: moves.asOf(existing, now) };
      const own = ofCaller(kept.tasks, task.principal).filter(moves.isLive);
      if (own.length >= most) return { kind: "too many" };
      const created = moves.created(task, now);
      kept.logs.set(task.id, task.log);
      put(kept, created);
      this.#announce({ id: task.id });
      return { kind: "created", task: created };
    });

  readonly read: TaskStore["read"] = async (id) => {
    const task = this.#file.read().tasks.get(id);
    return task && moves.asOf(task, this.#now());
  };

  readonly readByCall: TaskStore["readByCall"] = async (callId) => {
    const task = byCall(this.#file.read(), callId);
    return task && moves.asOf(task, this.#now());
  };

  readonly readLog: TaskStore["readLog"] = async (id, from = 0) =>
    (this.#file.read().logs.get(id) ?? []).slice(from);

  readonly readParts: TaskStore["readParts"] = async (id, after) => {
    const { tasks, parts } = this.#file.read();
    const task = tasks.get(id);
    if (task === undefined) return undefined;
    const { epoch, logLength } = task;
    const { revision } = moves.asOf(task, this.#now());
    const place = after.epoch === epoch ? after.n : -Infinity;
    const more = (parts.get(id) ?? []).filter(({ n }) => n > place);
    return { epoch, logLength, revision, parts: more.slice(0, moves.partsAtOnce) };
  };

  readonly list: TaskStore["list"] = async ({ principal, after, limit }) =>
    [...this.#file.read().tasks.values()]
      .map((task) => moves.asOf(task, this.#now()))
      .filter((task) => task.rest === undefined)
      .filter((task) => principal === undefined || task.principal === principal)
      .toSorted(newestFirst)
      .filter((task) => after === undefined || newestFirst(task, after) > 0)
      .slice(0, limit);

  readonly answer: TaskStore["answer"] = async (id, answers, worker) => {
    let accepted: readonly string[] = [];
    let log: readonly Sealed[] | undefined;
    const next = this.#move(id, (asked, now, kept) => {
      const task = moves.answered(asked, answers, now);
      const arrived = task?.inbox.filter((one) => !asked.inbox.includes(one)) ?? [];
      accepted = arrived.map((one) => one.id);
      if (task === undefined || task.worker !== undefined || worker === undefined) return task;
      // The worker that is named need not claim the task that it has woken.
      const held = moves.claimed(task, worker.worker, worker.leaseMs, now);
      if (held !== undefined) log = kept.logs.get(id) ?? [];
      return held ?? task;
    });
    const task = next ?? (await this.read(id));
    if (task === undefined || log === undefined) return task && { task, accepted };
    return { task, accepted, claimed: { task, log, before: undefined } };
  };

  readonly requeue: TaskStore["requeue"] = async (id, which) => {
    const task = await this.read(id);
    const next = this.#move(id, (stuck, now) => moves.requeued(stuck, which, now));
    return task && { task: next ?? task, isRequeued: next !== undefined };
  };

  readonly noteRead: TaskStore["noteRead"] = async (ids) =>
    this.#change((kept) => {
      for (const id of ids) {
        const task = kept.tasks.get(id);
        const noted = task && moves.noted(task);
        if (noted !== undefined) put(kept, noted);
      }
    });

  readonly revisions: TaskStore["revisions"] = async (ids, principal) => {
    const tasks = await Promise.all(ids.map((id) => this.read(id)));
    const isTheirs = (task: TaskRecord) =>
      principal === undefined || (task.principal === principal && task.rest !== "removed");
    return new Map(
      tasks.flatMap((task) => (task && isTheirs(task) ? [[task.id, task.revision]] : [])),
    );
  };

  // ---------------------------------------------------------------- workers

  readonly claim: TaskStore["claim"] = async ({ worker, tools, most, leaseMs }) =>
    this.#change((kept, now) => {
      const due = () =>
        [...kept.tasks.values()]
          .filter((task) => (moves.isLive(task) && task.expiresAt > now) || moves.isUndoing(task))
          .filter((task) => tools.includes(task.tool))
          .toSorted(earliestDue);
      const claimed = due()
        .slice(0, most)
        .flatMap((before) => {
          const task = moves.claimed(before, worker, leaseMs, now);
          if (task === undefined) return [];
          put(kept, task);
          return [{ task, log: kept.logs.get(task.id) ?? [], before: before.worker }];
        });
      return { claimed, nextDueAt: due()[0]?.dueAt, now };
    });

  readonly renew: TaskStore["renew"] = async (worker, refs, leaseMs) =>
    this.#change((kept, now) => {
      kept.workers.set(worker, now);
      const held = refs.flatMap((ref) => {
        const before = kept.tasks.get(ref.id);
        const task = before && moves.renewed(moves.asOf(before, now), ref, leaseMs, now);
        if (task === undefined) return [];
        put(kept, task);
        const isUndoing = moves.isUndoing(task);
        return [{ id: task.id, inbox: task.inbox, ...(isUndoing && { isUndoing }) }];
      });
      return { held, now };
    });

  readonly leave: TaskStore["leave"] = async (worker) =>
    this.#change(({ workers }) => void workers.delete(worker));

  readonly workers: TaskStore["workers"] = async () => {
    const { workers } = this.#file.read();
    return { now: this.#now(), workers: [...workers].map(([name, seenAt]) => ({ name, seenAt })) };
  };

  readonly sweep: TaskStore["sweep"] = async (limit, keepMs, unreadMs, undoMs) =>
    this.#change((kept, now) => {
      const all = () => [...kept.tasks.values()];
      const forgotten = all()
        .filter((task) => moves.isForgotten(task, now, undoMs))
        .slice(0, limit);
      for (const { id } of forgotten) for (const name of byTask) kept[name].delete(id);
      const resting = all()
        .flatMap((task) => moves.laidToRest(task, now, keepMs, unreadMs, undoMs) ?? [])
        .slice(0, limit);
      for (const task of resting) {
        if (!moves.isUndoing(task)) kept.logs.delete(task.id);
        put(kept, task);
      }
      for (const [name, at] of kept.workers) if (at <= now - dayMs) kept.workers.delete(name);
      return {
        expired: resting.filter(({ rest }) => rest === "expired").length,
        removed: resting.filter(({ rest }) => rest === "removed").length,
        forgotten: forgotten.length,
        spills: dropExpired(kept.spills, now),
        rounds: dropExpired(kept.rounds, now),
        isMore: resting.length >= limit || forgotten.length >= limit,
      };
    });

  // ---------------------------------------------------------------- limits of a caller, and figures

  readonly usage: TaskStore["usage"] = async (principal) => {
    const kept = this.#file.read();
    const tasks = ofCaller(kept.tasks, principal).filter(({ rest }) => rest === undefined);
    const live = tasks.filter(moves.isLive).length;
    const sizes = [
      ...tasks.map((task) => moves.taskBytes(task) + sizeOf(kept.parts.get(task.id) ?? [])),
      ...ofCaller(kept.spills, principal).map(({ state, answer = "" }) => (state + answer).length),
      ...ofCaller(kept.rounds, principal).map(
        ({ log, response = "" }) => moves.bytesOf(log) + response.length,
      ),
    ];
    const bytes = sizes.reduce((sum, size) => sum + size + moves.recordBytes, 0);
    return { live, ended: tasks.length - live, bytes };
  };

  readonly removeEnded: TaskStore["removeEnded"] = async (principal, limit, keepMs) =>
    this.#change((kept, now) => {
      const oldest = ofCaller(kept.tasks, principal)
        .toSorted((one, other) => newestFirst(other, one))
        .flatMap((task) => moves.removed(task, now, keepMs) ?? [])
        .slice(0, limit);
      for (const task of oldest) {
        kept.logs.delete(task.id);
        put(kept, task);
      }
      return oldest.length;
    });

  readonly figures: TaskStore["figures"] = async () => {
    const { tasks, workers } = this.#file.read();
    const now = this.#now();
    const live = [...tasks.values()].filter(moves.isLive);
    const due = live.filter(({ dueAt = Infinity }) => dueAt <= now).toSorted(earliestDue);
    return {
      now,
      live: live.length,
      held: live.filter(({ worker }) => worker !== undefined).length,
      parked: live.filter(({ worker, dueAt = Infinity }) => worker === undefined && dueAt > now)
        .length,
      inputRequired: live.filter(({ status }) => status === "input_required").length,
      due: due.length,
      oldestDueAt: due[0]?.dueAt,
      undoing: [...tasks.values()].filter(moves.isUndoing).length,
      workerSeenAt: workers.size === 0 ? undefined : Math.max(...workers.values()),
    };
  };

  // ---------------------------------------------------------------- rounds

  readonly spill: TaskStore["spill"] = async (id, state, ttlMs, principal) =>
    this.#change(({ spills }, now) => {
      spills.set(id, { ...spills.get(id), principal, state, expiresAt: now + ttlMs });
    });

  #spilled(id: string): Spill | undefined {
    const spill = this.#file.read().spills.get(id);
    return spill !== undefined && spill.expiresAt > this.#now() ? spill : undefined;
  }

  readonly spilled: TaskStore["spilled"] = async (id) => this.#spilled(id)?.state;
  readonly filled: TaskStore["filled"] = async (id) => this.#spilled(id)?.answer;

  readonly fill: TaskStore["fill"] = async (id, answer) => {
    const spill = this.#spilled(id);
    if (spill === undefined) return "gone";
    if (spill.answer !== undefined) return "full";
    this.#change(({ spills }) => spills.set(id, { ...spill, answer }));
    return "filled";
  };

  readonly countSpilled: TaskStore["countSpilled"] = async (principal, prefix) =>
    [...this.#file.read().spills].filter(
      ([id, one]) =>
        one.principal === principal && id.startsWith(prefix) && one.expiresAt > this.#now(),
    ).length;

  readonly claimRound: TaskStore["claimRound"] = async (claim) =>
    this.#change(({ rounds }, now) => {
      const { principal, callId, round, answers, leaseMs, ttlMs } = claim;
      const before = rounds.get(callId);
      const isLater = before === undefined || before.round < round;
      if (!isLater) {
        if (before.round > round || before.answers !== answers) return { kind: "superseded" };
        if (before.response !== undefined) return { kind: "ended", response: before.response };
        if (before.leaseUntil > now) return { kind: "running" };
      }
      const log = isLater ? [] : before.log;
      const epoch = (before?.epoch ?? 0) + 1;
      // The token of an earlier round may be valid for longer.
      const expiresAt = Math.max(before?.expiresAt ?? 0, now + ttlMs);
      rounds.set(callId, {
        principal,
        round,
        answers,
        epoch,
        log,
        leaseUntil: now + leaseMs,
        expiresAt,
      });
      return { kind: "run", ref: { id: callId, epoch }, log };
    });

  /** Changes a round that is still held under this claim. */
  #moveRound({ id, epoch }: ClaimRef, move: (round: Round, now: number) => Round): boolean {
    return this.#change(({ rounds }, now) => {
      const round = rounds.get(id);
      if (round?.epoch !== epoch || round.response !== undefined) return false;
      rounds.set(id, move(round, now));
      return true;
    });
  }

  readonly renewRound: TaskStore["renewRound"] = async (ref, leaseMs) =>
    this.#moveRound(ref, (round, now) => ({ ...round, leaseUntil: now + leaseMs }));
  readonly releaseRound: TaskStore["releaseRound"] = async (ref) =>
    this.#moveRound(ref, (round, now) => ({ ...round, leaseUntil: now }));
  readonly endRound: TaskStore["endRound"] = async (ref, response) =>
    this.#moveRound(ref, (round) => ({ ...round, response }));

  readonly appendToRound: TaskStore["appendToRound"] = async (ref, at, record) => {
    const round = this.#file.read().rounds.get(ref.id);
    // It was written before, and only its acknowledgement was lost.
    if (round?.epoch === ref.epoch && round.log.length === at + 1) return true;
    if (round?.log.length !== at) return false;
    return this.#moveRound(ref, (held) => ({ ...held, log: [...held.log, record] }));
  };
}

/** Only those who read the streams of the task need to look. */
const partsHint = (id: string): ChangeHint => ({
  id,
  isDue: false,
  isNews: false,
  isParts: true,
});

const byTask = ["tasks", "logs", "parts"] as const;

/** Keeps a task. The parts of its streams go when the claim that they were written under ends. */
function put(kept: Kept, task: TaskRecord): void {
  if (moves.endsParts(kept.tasks.get(task.id), task)) kept.parts.delete(task.id);
  kept.tasks.set(task.id, task);
}

const byCall = ({ tasks }: Kept, callId: string): TaskRecord | undefined =>
  [...tasks.values()].find((task) => task.callId === callId);

const ofCaller = <T extends { readonly principal: string }>(
  table: ReadonlyMap<string, T>,
  principal: string,
): T[] => [...table.values()].filter((one) => one.principal === principal);

const sizeOf = (parts: readonly StoredPart[]): number =>
  parts.reduce((sum, { record }) => sum + record.length, 0);

function dropExpired(table: Map<string, { readonly expiresAt: number }>, now: number): number {
  const over = [...table].filter(([, { expiresAt }]) => expiresAt <= now);
  for (const [id] of over) table.delete(id);
  return over.length;
}

type Placed = Pick<TaskRecord, "createdAt" | "id">;

const newestFirst = (one: Placed, other: Placed): number =>
  other.createdAt - one.createdAt || (one.id < other.id ? 1 : one.id > other.id ? -1 : 0);

const earliestDue = (one: TaskRecord, other: TaskRecord): number =>
  (one.dueAt ?? Infinity) - (other.dueAt ?? Infinity) || (one.id < other.id ? -1 : 1);
