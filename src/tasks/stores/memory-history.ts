// What operators read, from the memory of this process.

import type { LoggedRecord, OpenWait, TaskListing, TaskReader } from "../task-reader.ts";
import { endedRun, mostRuns, runsOf } from "../task-runs.ts";
import type { EndedRun } from "../task-runs.ts";
import { isLive } from "../task.ts";
import type { LogAppend, Sealed, TaskRecord, Wait } from "../task.ts";
import { newestFirst } from "./memory-rows.ts";

type Note = Omit<LoggedRecord, "seq" | "record">;

/** The runs, the times of records, and since when each task waits. */
export class MemoryHistory {
  readonly #runs = new Map<string, EndedRun[]>();
  readonly #notes = new Map<string, Note[]>();
  readonly #since = new Map<string, ReadonlyMap<string, number>>();

  /** A task changes. */
  changed(before: TaskRecord | undefined, next: TaskRecord, now: number): void {
    const run = endedRun(before, next, now);
    if (run !== undefined) {
      const runs = [...(this.#runs.get(next.id) ?? []), run];
      this.#runs.set(next.id, runs.slice(-mostRuns));
    }
    if (before?.waits === next.waits) return;
    const known = this.#since.get(next.id);
    const waits = next.waits.filter(({ kind }) => kind !== "timer");
    const since = waits.map((wait) => {
      const isKept = before?.waits.some((earlier) => isSameWait(earlier, wait)) === true;
      const kept = isKept ? known?.get(wait.wire) : undefined;
      return [wait.wire, kept ?? next.updatedAt] as const;
    });
    this.#since.set(next.id, new Map(since));
  }

  /** Records are added to a log. */
  logged(
    id: string,
    epoch: number,
    { records, took }: Pick<LogAppend, "records" | "took">,
    at: number,
  ): void {
    const notes = records.map((_, index): Note => {
      const { ms, tries } = (index === records.length - 1 ? took : undefined) ?? {};
      return { epoch, at, ms, tries };
    });
    this.#notes.set(id, [...(this.#notes.get(id) ?? []), ...notes]);
  }

  forget(id: string): void {
    this.#runs.delete(id);
    this.#notes.delete(id);
    this.#since.delete(id);
  }

  reader(
    tasks: ReadonlyMap<string, TaskRecord>,
    logs: ReadonlyMap<string, readonly Sealed[]>,
    now: () => number,
  ): TaskReader {
    return {
      find: async ({ status, tool, principal, stuckMs, after, limit }) => {
        const found = [...tasks.values()]
          .filter((task) => status === undefined || task.status === status)
          .filter((task) => tool === undefined || task.tool === tool)
          .filter((task) => principal === undefined || task.principal === principal)
          .filter((task) =>
            stuckMs === undefined ? task.rest === undefined : isStuck(task, now() - stuckMs),
          );
        const page =
          stuckMs === undefined
            ? found
                .toSorted(newestFirst)
                .filter((task) => after === undefined || newestFirst(task, after) > 0)
            : found.toSorted((a, b) => (a.dueAt ?? 0) - (b.dueAt ?? 0) || compare(a.id, b.id));
        return page.slice(0, limit).map(listed);
      },
      waiting: async ({ groups, tool, taskId, after, limit }) =>
        [...tasks.values()]
          .filter((task) => tool === undefined || task.tool === tool)
          .filter(({ id }) => taskId === undefined || id === taskId)
          .flatMap((task) => this.#openWaits(task))
          .filter(({ group = "" }) => groups === undefined || groups.includes(group))
          .toSorted(longestFirst)
          .filter((wait) => after === undefined || longestFirst(wait, after) > 0)
          .slice(0, limit),
      log: async (id, from, limit) =>
        (logs.get(id) ?? [])
          .map((record, seq) => ({ seq, record, ...(this.#notes.get(id)?.[seq] ?? unknown) }))
          .slice(from, from + limit),
      runs: async (id) => runsOf(this.#runs.get(id) ?? [], tasks.get(id)),
    };
  }

  #openWaits({ id, tool, waits, updatedAt }: TaskRecord): readonly OpenWait[] {
    return waits.flatMap(({ kind, key, wire, group }) => {
      if (kind === "timer") return [];
      const since = this.#since.get(id)?.get(wire) ?? updatedAt;
      return [{ taskId: id, wire, key, kind, tool, group, since }];
    });
  }
}

const unknown: Note = { epoch: undefined, at: undefined, ms: undefined, tries: undefined };

function listed(task: TaskRecord): TaskListing {
  const { input: _input, result: _result, inbox: _inbox, asked: _asked, ...listing } = task;
  return listing;
}

const isStuck = (task: TaskRecord, by: number): boolean => {
  const { dueAt, fruitless, undos } = task;
  if (dueAt === undefined) return false;
  return fruitless > 1 || (dueAt <= by && (isLive(task) || undos > 0));
};

/** Whether two waits under one wire key ask for the same; otherwise the second began to wait when it came. */
const isSameWait = (a: Wait, b: Wait): boolean =>
  a.wire === b.wire && a.key === b.key && a.kind === b.kind && (a.group ?? "") === (b.group ?? "");

type WaitPlace = Pick<OpenWait, "since" | "taskId" | "wire">;

const longestFirst = (a: WaitPlace, b: WaitPlace): number =>
  a.since - b.since || compare(a.taskId, b.taskId) || compare(a.wire, b.wire);

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
