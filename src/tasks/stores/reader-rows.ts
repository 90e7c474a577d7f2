// What operators read, from the rows of both SQL stores.

import type { LoggedRecord, OpenWait, TaskListing } from "../task-reader.ts";
import { mostRuns, runsOf } from "../task-runs.ts";
import type { EndedRun, RunEnd, TaskRun } from "../task-runs.ts";
import { listingOfRow, parsed, wide } from "./columns.ts";
import type { JsonColumn, TaskRow, Wide } from "./columns.ts";

/** A task in a list, as a driver reads it. */
export type ListingRow = Omit<TaskRow, "input" | "result" | "inbox" | "asked">;

export const listingOf: (row: ListingRow) => TaskListing = listingOfRow;

export interface OpenWaitRow {
  readonly task_id: string;
  readonly wire: string;
  readonly key: string;
  readonly kind: OpenWait["kind"];
  readonly tool: string;
  readonly group_name: string;
  readonly since: Wide;
}

export const openWaitOf = (row: OpenWaitRow): OpenWait => ({
  taskId: row.task_id,
  wire: row.wire,
  key: row.key,
  kind: row.kind,
  tool: row.tool,
  group: row.group_name === "" ? undefined : row.group_name,
  since: Number(row.since),
});

export interface LoggedRow {
  readonly seq: Wide;
  readonly record: string;
  readonly epoch: Wide | null;
  readonly at: Wide | null;
  readonly ms: Wide | null;
  readonly tries: Wide | null;
}

export const loggedOf = (row: LoggedRow): LoggedRecord => ({
  seq: Number(row.seq),
  record: row.record,
  epoch: wide(row.epoch),
  at: wide(row.at),
  ms: wide(row.ms),
  tries: wide(row.tries),
});

/**
 * A run that has ended, as a row holds it: epoch, worker, beginning, end, and how it ended. The row is written with every
 * change of the task, so it has to be short: times count from the creation of the task.
 */
type KeptRun = readonly [number, string, number | null, number, RunEnd];

/** A run for the JSON column of its task. */
export function keptRun(
  { epoch, worker, beganAt, endedAt, how }: EndedRun,
  createdAt: number,
): string {
  const began = beganAt === undefined ? null : beganAt - createdAt;
  const run: KeptRun = [epoch, worker, began, endedAt - createdAt, how];
  return JSON.stringify(run);
}

/** Some ended runs of a task. Only the row of the task itself has the other columns, which name the run that lasts. */
export interface RunsRow {
  readonly runs: JsonColumn<readonly KeptRun[]>;
  readonly created_at: Wide | null;
  readonly epoch: Wide | null;
  readonly worker: string | null;
  readonly began_at: Wide | null;
}

export function runsIn(rows: readonly RunsRow[]): readonly TaskRun[] {
  const task = rows.find(({ created_at }) => created_at !== null);
  if (task === undefined) return [];
  const createdAt = Number(task.created_at);
  const ended = rows
    .flatMap(({ runs }) => parsed(runs))
    .map(([epoch, worker, began, end, how]): EndedRun => {
      const beganAt = began === null ? undefined : createdAt + began;
      return { epoch, worker, beganAt, endedAt: createdAt + end, how };
    })
    .toSorted((a, b) => a.epoch - b.epoch)
    .slice(-mostRuns);
  return runsOf(ended, {
    epoch: Number(task.epoch),
    worker: task.worker ?? undefined,
    claimedAt: wide(task.began_at),
  });
}
