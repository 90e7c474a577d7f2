// From a row to a record.

import type { Arrival, Status, TaskRecord, Wait } from "../../task.ts";

/** In the statements' order. Wide integers come as text, and a pool may have been told to read types its own way. */
export interface TaskRow {
  readonly id: string;
  readonly call_id: string;
  readonly tool: string;
  readonly principal: string;
  readonly status: Status;
  readonly revision: number;
  readonly epoch: number;
  readonly worker: string | null;
  readonly due_at: Wide | null;
  readonly waits: JsonColumn<readonly Wait[]>;
  readonly inbox: JsonColumn<readonly Arrival[]>;
  readonly asked: JsonColumn<Readonly<Record<string, number>>>;
  readonly log_length: number;
  readonly log_bytes: Wide;
  readonly fruitless: number;
  readonly cause: string | null;
  readonly input: string;
  readonly status_message: string | null;
  readonly result: string | null;
  readonly rest: "expired" | "removed" | null;
  readonly created_at: Wide;
  readonly updated_at: Wide;
  readonly expires_at: Wide;
}

export type Wide = string | number | bigint;
export type JsonColumn<T> = T | string;

export function recordOf(row: TaskRow): TaskRecord {
  return {
    id: row.id,
    callId: row.call_id,
    tool: row.tool,
    principal: row.principal,
    status: row.status,
    revision: Number(row.revision),
    epoch: Number(row.epoch),
    worker: row.worker ?? undefined,
    dueAt: wide(row.due_at),
    waits: parsed(row.waits),
    inbox: parsed(row.inbox),
    asked: parsed(row.asked),
    logLength: Number(row.log_length),
    logBytes: Number(row.log_bytes),
    fruitless: Number(row.fruitless),
    cause: row.cause ?? undefined,
    input: row.input,
    statusMessage: row.status_message ?? undefined,
    result: row.result ?? undefined,
    rest: row.rest ?? undefined,
    createdAt: Number(row.created_at),
    updatedAt: Number(row.updated_at),
    expiresAt: Number(row.expires_at),
  };
}

export function wide(column: Wide | null | undefined): number | undefined {
  return column === null || column === undefined ? undefined : Number(column);
}

export function parsed<T>(column: JsonColumn<T>): T {
  if (typeof column !== "string") return column;
  const value: T = JSON.parse(column);
  return value;
}
