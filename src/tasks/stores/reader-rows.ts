// What operators read, from the rows of both SQL stores.

import type { LoggedRecord, OpenWait, TaskListing } from "../task-reader.ts";
import { mostRuns, runsOf } from "../task-runs.ts";
import type { RunEnd, TaskRun } from "../task-runs.ts";
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

/** A run that has ended, as a row holds it: epoch, worker, beginning, end, and how it ended. */
type KeptRun = readonly [number, string, number | null, number, RunEnd];

/** A run for the JSON column of its task. */
export const keptRun = ({ epoch, worker, beganAt, endedAt, how }: TaskRun): string =>
  JSON.stringify([epoch, worker, beganAt ?? null, endedAt, how]);

/** Some ended runs of a task. The row of the task itself names the run that lasts. */
export interface RunsRow {
  readonly runs: JsonColumn<readonly KeptRun[]>;
  readonly epoch: Wide | null;
  readonly worker: string | null;
  readonly began_at: Wide | null;
}

export function runsIn(rows: readonly RunsRow[]): readonly TaskRun[] {
  const ended = rows
    .flatMap(({ runs }) => parsed(runs))
    .map(([epoch, worker, began, endedAt, how]): TaskRun => {
      return { epoch, worker, beganAt: wide(began), endedAt, how };
    })
    .toSorted((a, b) => a.epoch - b.epoch)
    .slice(-mostRuns);
  const task = rows.find(({ worker }) => worker !== null);
  return runsOf(
    ended,
    task && {
      epoch: Number(task.epoch),
      worker: task.worker ?? undefined,
      claimedAt: wide(task.began_at),
    },
  );
}
