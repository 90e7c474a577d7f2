// The columns of a task, which both SQL stores share: the one place that says where and how each field is kept. Column
// lists, the type of a row, and SQLite's inserts and updates are derived from it. The inserts and updates of Postgres
// are written out in client-statements.ts, worker-statements.ts and upkeep-statements.ts.

import type { TaskRecord } from "../task.ts";

/** How a field is kept. A JSON column is text in SQLite and jsonb in Postgres. */
interface Column {
  readonly name: string;
  /** A flag is 1 or 0. */
  readonly kind: "text" | "integer" | "json" | "flag";
  /** Whether the column keeps its value for as long as the row exists. */
  readonly isFixed: boolean;
}

/** The columns of a record, by field. */
export type Columns<Fields> = { readonly [Field in keyof Fields]-?: Column };

const taskColumns = {
  id: { name: "id", kind: "text", isFixed: true },
  callId: { name: "call_id", kind: "text", isFixed: true },
  tool: { name: "tool", kind: "text", isFixed: true },
  principal: { name: "principal", kind: "text", isFixed: true },
  status: { name: "status", kind: "text", isFixed: false },
  revision: { name: "revision", kind: "integer", isFixed: false },
  epoch: { name: "epoch", kind: "integer", isFixed: false },
  worker: { name: "worker", kind: "text", isFixed: false },
  dueAt: { name: "due_at", kind: "integer", isFixed: false },
  waits: { name: "waits", kind: "json", isFixed: false },
  inbox: { name: "inbox", kind: "json", isFixed: false },
  asked: { name: "asked", kind: "json", isFixed: false },
  logLength: { name: "log_length", kind: "integer", isFixed: false },
  logBytes: { name: "log_bytes", kind: "integer", isFixed: false },
  undos: { name: "undos", kind: "integer", isFixed: false },
  fruitless: { name: "fruitless", kind: "integer", isFixed: false },
  cause: { name: "cause", kind: "text", isFixed: false },
  input: { name: "input", kind: "text", isFixed: false },
  statusMessage: { name: "status_message", kind: "text", isFixed: false },
  result: { name: "result", kind: "text", isFixed: false },
  rest: { name: "rest", kind: "text", isFixed: false },
  isUnread: { name: "unread", kind: "flag", isFixed: false },
  createdAt: { name: "created_at", kind: "integer", isFixed: true },
  claimedAt: { name: "claimed_at", kind: "integer", isFixed: false },
  updatedAt: { name: "updated_at", kind: "integer", isFixed: false },
  expiresAt: { name: "expires_at", kind: "integer", isFixed: false },
} as const;

type TaskColumns = typeof taskColumns;

/** The name of a column of a task. */
export type TaskColumn = TaskColumns[keyof TaskRecord]["name"];

/** A task as a driver reads it. */
export type TaskRow = {
  readonly [Field in keyof TaskRecord as TaskColumns[Field]["name"]]-?: Kept<
    TaskRecord[Field],
    TaskColumns[Field]["kind"]
  >;
};

/** A wide integer. Drivers give it as text, as a number or as a bigint, depending on how they are set up. */
export type Wide = string | number | bigint;

/** A JSON column, which a driver may have parsed already. */
export type JsonColumn<T> = T | string;

type Kept<T, Kind> = Kind extends "json"
  ? JsonColumn<T>
  :
      | (Kind extends "integer" | "flag" ? Wide : Exclude<T, undefined>)
      | (undefined extends T ? null : never);

/** The names of all columns of a task. */
export const taskColumnNames: readonly TaskColumn[] = Object.values(taskColumns).map(
  ({ name }) => name,
);

/** The names of the columns that a list of tasks shows. */
export const listedColumnNames: readonly TaskColumn[] = taskColumnNames.filter(
  (name) => !["input", "result", "inbox", "asked"].includes(name),
);

/** A value that a SQL driver takes. */
export type SqlValue = string | number | null;

/** Writes records into columns: `names` and `valuesOf` have the same order. */
export interface ColumnWriter<Fields> {
  readonly names: readonly string[];
  readonly valuesOf: (record: Fields) => readonly SqlValue[];
}

/** A field, and where it is kept. */
export interface ColumnOf<Fields> {
  readonly field: keyof Fields;
  readonly column: Column;
}

function columnsOf<Fields>(
  columns: Columns<Fields>,
  isWanted: (column: Column) => boolean,
): readonly ColumnOf<Fields>[] {
  const wanted: ColumnOf<Fields>[] = [];
  for (const field in columns) {
    const column: Column = columns[field];
    if (isWanted(column)) wanted.push({ field, column });
  }
  return wanted;
}

/** Makes a writer for the columns that `isWanted` chooses. */
export function columnWriter<Fields>(
  columns: Columns<Fields>,
  isWanted: (column: Column) => boolean = () => true,
): ColumnWriter<Fields> {
  const wanted = columnsOf(columns, isWanted);
  return {
    names: wanted.map(({ column }) => column.name),
    valuesOf: (record) => wanted.map(({ field, column }) => encoded(record[field], column)),
  };
}

/** Writes a whole task. */
export const wholeTask: ColumnWriter<TaskRecord> = columnWriter<TaskRecord>(taskColumns);

/** The fields of a task that can change, each with its column. */
export const changingFields: readonly ColumnOf<TaskRecord>[] = columnsOf<TaskRecord>(
  taskColumns,
  ({ isFixed }) => !isFixed,
);

/** The value of a field as its column keeps it. */
export function encoded(value: unknown, { kind }: Column): SqlValue {
  if (kind === "json") return JSON.stringify(value);
  if (kind === "flag") return value === true ? 1 : 0;
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- text and numbers, as the columns say
  return (value ?? null) as SqlValue;
}

/**
 * Reads a task. The fields are written out, because building an object in a loop over its fields takes three times as
 * long. The types of `row` and of the record check every one of them.
 */
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
    undos: Number(row.undos),
    fruitless: Number(row.fruitless),
    cause: row.cause ?? undefined,
    input: row.input,
    statusMessage: row.status_message ?? undefined,
    result: row.result ?? undefined,
    rest: row.rest ?? undefined,
    isUnread: Number(row.unread) === 1,
    createdAt: Number(row.created_at),
    claimedAt: wide(row.claimed_at),
    updatedAt: Number(row.updated_at),
    expiresAt: Number(row.expires_at),
  };
}

/** Reads a task without its contents. */
export function listingOfRow(
  row: Omit<TaskRow, "input" | "result" | "inbox" | "asked">,
): Omit<TaskRecord, "input" | "result" | "inbox" | "asked"> {
  const {
    input: _,
    result: __,
    inbox: ___,
    asked: ____,
    ...listing
  } = recordOf({
    ...row,
    input: "",
    result: null,
    inbox: [],
    asked: {},
  });
  return listing;
}

/** Reads an integer that may be missing. */
export function wide(column: Wide | null | undefined): number | undefined {
  return column === null || column === undefined ? undefined : Number(column);
}

/** Reads a JSON column. */
export function parsed<T>(column: JsonColumn<T>): T {
  if (typeof column !== "string") return column;
  const value: T = JSON.parse(column);
  return value;
}
