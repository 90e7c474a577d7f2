// What operators read, from the rows of both SQL stores.

import type { LoggedRecord, OpenWait, TaskListing } from "../task-reader.ts";
import type { RunEnd, TaskRun } from "../task-runs.ts";
import { listingOfRow, wide } from "./columns.ts";
import type { TaskRow, Wide } from "./columns.ts";

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

export interface RunRow {
  readonly epoch: Wide;
  readonly worker: string;
  readonly began_at: Wide | null;
  readonly ended_at: Wide | null;
  readonly how: RunEnd | null;
}

export const runOf = (row: RunRow): TaskRun => ({
  epoch: Number(row.epoch),
  worker: row.worker,
  beganAt: wide(row.began_at),
  endedAt: wide(row.ended_at),
  how: row.how ?? undefined,
});
