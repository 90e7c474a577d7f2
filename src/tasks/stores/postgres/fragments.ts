// Pieces of SQL that several statements share.

import { taskColumnNames } from "../columns.ts";
import type { TaskColumn } from "../columns.ts";

/** All columns of a task, from this table or subquery. */
export const record = (of: string): string =>
  taskColumnNames.map((name) => `${of}.${name}`).join(", ");

/** The same, where the condition holds. Elsewhere they are null, so that they need not be sent. */
export const recordIf = (condition: string, of: string): string =>
  taskColumnNames
    .map((name) => `case when ${condition} then ${of}.${name} end as ${name}`)
    .join(", ");

/** The columns of an insert and what goes into them, as two lists in the same order. */
export function insertList(values: Readonly<Partial<Record<TaskColumn, string>>>): {
  readonly columns: string;
  readonly values: string;
} {
  return {
    columns: Object.keys(values).join(", "),
    values: Object.values(values).join(", "),
  };
}

/** The store's time. All replicas use the clock of the database. */
export const nowIn = (schema: string): string => `${schema}.parley_now()`;

/** Whether a task has not ended. */
export const isLive = (of: string): string => `${of}.status in ('working', 'input_required')`;

/** Whether a task has not ended and its time is not up, as `asOf` in expiry.ts decides. */
export const isLiveAt = (of: string, now: string): string =>
  `${isLive(of)} and ${of}.expires_at > ${now}`;

/** Whether a task has ended, and steps of it are still to be undone. */
export const isUndoing = (of: string): string => `${of}.undos > 0 and not ${isLive(of)}`;

/** Whether workers have something to do with a task. */
export const isOpenAt = (of: string, now: string): string =>
  `(${isLiveAt(of, now)} or ${isUndoing(of)})`;

/** What becomes of the worker of a task that ends, as `keptForUndo` in undo-moves.ts decides. */
export const keptForUndo = (of: string, now: string): Readonly<Record<UndoColumn, string>> => ({
  worker: `case when ${of}.undos > 0 then ${of}.worker end`,
  due_at: `case when ${of}.undos > 0 and ${of}.worker is not null then ${of}.due_at
        when ${of}.undos > 0 then ${now} end`,
  epoch: `${of}.epoch + case when ${of}.undos > 0 and ${of}.worker is not null then 0 else 1 end`,
  fruitless: `case when ${of}.undos = 0 then ${of}.fruitless
        when ${of}.worker is null then 0 else 1 end`,
  cause: `case when ${of}.undos = 0 then ${of}.cause end`,
});

type UndoColumn = "worker" | "due_at" | "epoch" | "fruitless" | "cause";

/**
 * The runs of a task whose run ends. Every tenth one is left to the trigger of migration 8, which also moves those before it
 * out of the row. The trigger notes the runs of all statements that do not use this.
 */
export const endedRun = (of: string, now: string, how: string): string =>
  `case when ${of}.epoch % 10 = 0 then ${of}.runs else ${of}.runs || jsonb_build_array(
        jsonb_build_array(${of}.epoch, ${of}.worker,
        ${of}.claimed_at - ${of}.created_at, ${now} - ${of}.created_at, ${how})) end`;

/** Whether a worker holds a task and may write, as `holds` in moves.ts decides. */
export const isHeld = (of: string, now: string): string =>
  `${isLiveAt(of, now)} and ${of}.worker is not null`;

/**
 * The members of a group of operations: `$1` is a JSON array of them, and `n` is the place of each. The planner expects a
 * hundred rows of such a list, and then would rather read a whole table than look up each row. Of a column that equals
 * something it expects one row, so `one` is always 1.
 */
export const members = (columns: string): string => `given as materialized (
      select * from json_to_recordset($1::json) as given (one integer, n integer, ${columns})
      where given.one = 1
    )`;
