// Deleting what is no longer needed. A transaction blocks the event loop and every other writer, so each call deletes no
// more than takes a few milliseconds, and says whether there is more.

import * as moves from "../../moves.ts";
import type { SweepResult } from "../../store.ts";
import { endedRun } from "../../task-runs.ts";
import { isUndoing } from "../../task.ts";
import type { TaskRecord } from "../../task.ts";
import type { Removable } from "./row-sizes.ts";
import type { HistoryTable } from "./history-table.ts";
import type { RoundTable } from "./round-table.ts";
import type { SpillTable } from "./spill-table.ts";
import type { TaskTable } from "./task-table.ts";
import type { WorkerTable } from "./worker-table.ts";

/** The most that one transaction deletes, unless a single record is larger. */
const mostBytes = 8 * 1024 * 1024;

interface Tables {
  readonly tasks: TaskTable;
  readonly history: HistoryTable;
  readonly rounds: RoundTable;
  readonly spills: SpillTable;
  readonly workers: WorkerTable;
}

interface Sweep {
  readonly limit: number;
  readonly keepMs: number;
  readonly unreadMs: number | undefined;
  readonly undoMs: number | undefined;
  readonly changed: (task: TaskRecord) => TaskRecord;
}

/** Does one part of a sweep. */
export function sweep(
  { tasks, history, rounds, spills, workers }: Tables,
  now: number,
  { limit, keepMs, unreadMs = Infinity, undoMs = Infinity, changed }: Sweep,
): SweepResult {
  const budget = new Budget();
  const forgotten = tasks.forget(now, limit, now - undoMs);
  const candidates = tasks.expired(now, limit, now - undoMs);
  const abandoned = tasks.abandoned(now - unreadMs, limit - candidates.length);
  const resting = layToRest(
    tasks,
    budget.take([...candidates, ...abandoned]),
    (task) => moves.laidToRest(task, now, keepMs, unreadMs, undoMs),
    (task, next) => history.ended(next, endedRun(task, next, now)),
  );
  for (const task of resting) changed(task);
  // Most of these rows are small, and every round of every call may leave one, so more of them go at once.
  const oldSpills = budget.take(spills.expired(now, limit * 20));
  spills.delete(oldSpills);
  const oldRounds = budget.take(rounds.expired(now, limit * 20));
  rounds.delete(oldRounds);
  workers.sweep(now);
  const expired = resting.filter(({ rest }) => rest === "expired").length;
  return {
    expired,
    removed: resting.length - expired,
    forgotten,
    spills: oldSpills.length,
    rounds: oldRounds.length,
    isMore:
      budget.isSpent ||
      Math.max(resting.length, forgotten) >= limit ||
      Math.max(oldSpills.length, oldRounds.length) >= limit * 20,
  };
}

/** Deletes the contents of the oldest ended tasks of a caller. Returns the tasks afterwards. */
export function removeEnded(
  tasks: TaskTable,
  principal: string,
  limit: number,
  now: number,
  keepMs: number,
): readonly TaskRecord[] {
  const oldest = new Budget().take(tasks.ended(principal, limit));
  return layToRest(tasks, oldest, (task) => moves.removed(task, now, keepMs));
}

function layToRest(
  tasks: TaskTable,
  ids: readonly string[],
  move: (task: TaskRecord) => TaskRecord | undefined,
  ended: (task: TaskRecord, next: TaskRecord) => string = () => "",
): readonly TaskRecord[] {
  return ids.flatMap((id) => {
    const task = tasks.byId(id);
    const next = task && move(task);
    if (task === undefined || next === undefined) return [];
    if (!isUndoing(next)) tasks.deleteLog(id);
    tasks.update(next, ended(task, next));
    return [next];
  });
}

/** What one transaction may still delete. */
class Budget {
  #left = mostBytes;
  #isSpent = false;

  get isSpent(): boolean {
    return this.#isSpent;
  }

  /** The ids of the rows that fit. The first row of a transaction always does. */
  take(rows: readonly Removable[]): readonly string[] {
    const ids: string[] = [];
    for (const { id, bytes } of rows) {
      if (this.#left < mostBytes && bytes > this.#left) {
        this.#isSpent = true;
        break;
      }
      this.#left -= bytes;
      ids.push(id);
    }
    return ids;
  }
}
