// A task's record as a row, and back. Lists are JSON: a row is read and written whole.

import type { Arrival, Status, TaskRecord, Wait } from "../../task.ts";
import type { Row, Value } from "./driver.ts";

type Columns = Readonly<Record<string, (task: TaskRecord) => Value>>;

/** Those that stay as they are for as long as the task is there. */
export const fixedColumns: Columns = {
  id: ({ id }) => id,
  call_id: ({ callId }) => callId,
  tool: ({ tool }) => tool,
  principal: ({ principal }) => principal,
  created_at: ({ createdAt }) => createdAt,
};

export const movingColumns: Columns = {
  status: ({ status }) => status,
  revision: ({ revision }) => revision,
  epoch: ({ epoch }) => epoch,
  worker: ({ worker }) => worker ?? null,
  due_at: ({ dueAt }) => dueAt ?? null,
  waits: ({ waits }) => JSON.stringify(waits),
  inbox: ({ inbox }) => JSON.stringify(inbox),
  asked: ({ asked }) => JSON.stringify(asked),
  log_length: ({ logLength }) => logLength,
  log_bytes: ({ logBytes }) => logBytes,
  fruitless: ({ fruitless }) => fruitless,
  cause: ({ cause }) => cause ?? null,
  status_message: ({ statusMessage }) => statusMessage ?? null,
  rest: ({ rest }) => rest ?? null,
  updated_at: ({ updatedAt }) => updatedAt,
  expires_at: ({ expiresAt }) => expiresAt,
  input: ({ input }) => input,
  result: ({ result }) => result ?? null,
};

export const valuesOf = (columns: Columns, task: TaskRecord): readonly Value[] =>
  Object.values(columns).map((value) => value(task));

interface TaskRow {
  readonly id: string;
  readonly call_id: string;
  readonly tool: string;
  readonly principal: string;
  readonly status: Status;
  readonly revision: number;
  readonly epoch: number;
  readonly worker: string | null;
  readonly due_at: number | null;
  readonly waits: string;
  readonly inbox: string;
  readonly asked: string;
  readonly log_length: number;
  readonly log_bytes: number;
  readonly fruitless: number;
  readonly cause: string | null;
  readonly status_message: string | null;
  readonly rest: "expired" | "removed" | null;
  readonly created_at: number;
  readonly updated_at: number;
  readonly expires_at: number;
  readonly input: string;
  readonly result: string | null;
}

export function recordOf(columns: Row): TaskRecord {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the table is strict, and written above
  const row = columns as unknown as TaskRow;
  const waits: readonly Wait[] = JSON.parse(row.waits);
  const inbox: readonly Arrival[] = JSON.parse(row.inbox);
  const asked: Readonly<Record<string, number>> = JSON.parse(row.asked);
  return {
    id: row.id,
    callId: row.call_id,
    tool: row.tool,
    principal: row.principal,
    status: row.status,
    revision: row.revision,
    epoch: row.epoch,
    worker: row.worker ?? undefined,
    dueAt: row.due_at ?? undefined,
    waits,
    inbox,
    asked,
    logLength: row.log_length,
    logBytes: row.log_bytes,
    fruitless: row.fruitless,
    cause: row.cause ?? undefined,
    input: row.input,
    statusMessage: row.status_message ?? undefined,
    result: row.result ?? undefined,
    rest: row.rest ?? undefined,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    expiresAt: row.expires_at,
  };
}
