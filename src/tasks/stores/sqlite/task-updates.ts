// Updates of a task that write only the columns that differ. SQLite rewrites each index that has a column of the update, and
// runs each trigger for it, even if the value stays. So a column that is left out costs nothing.

import type { TaskRecord } from "../../task.ts";
import { changingFields, encoded } from "../columns.ts";
import type { SqlValue } from "../columns.ts";
import type { SqliteDatabase, SqliteStatement } from "./driver.ts";

/** A set of columns: bit n stands for the field with the index n. */
type FieldSet = number;

const all: FieldSet = 2 ** changingFields.length - 1;
const withEnded: FieldSet = 2 ** changingFields.length;

/** The fields in which two records differ. Two lists with the same members count as different, unless they are empty. */
function changed(before: TaskRecord, after: TaskRecord): FieldSet {
  let set = 0;
  for (const [index, { field }] of changingFields.entries()) {
    const [one, other] = [before[field], after[field]];
    if (one !== other && !(isEmpty(one) && isEmpty(other))) set |= 1 << index;
  }
  return set;
}

const isEmpty = (value: unknown): boolean => Array.isArray(value) && value.length === 0;
const has = (set: FieldSet, index: number): boolean => (set & (1 << index)) !== 0;

function sqlOf(set: FieldSet): string {
  const columns = changingFields.flatMap(({ column: { name } }, index) =>
    has(set, index) ? [`${name} = ?`] : [],
  );
  if ((set & withEnded) !== 0) columns.push("runs = runs || ?");
  return `update tasks set ${columns.join(", ")} where id = ?`;
}

/** The updates of tasks, each prepared when it is first needed. */
export class TaskUpdates {
  readonly #prepare: SqliteDatabase["prepare"];
  readonly #statements = new Map<FieldSet, SqliteStatement>();

  constructor({ prepare }: SqliteDatabase) {
    this.#prepare = prepare;
  }

  /**
   * Writes a task. `before` is what the row has now, and all columns are written if that is not known. `ended` is added to the
   * runs of the task, as `HistoryTable.ended` writes it.
   */
  readonly write = (before: TaskRecord | undefined, task: TaskRecord, ended: string): void => {
    const fields = before === undefined ? all : changed(before, task);
    const set = ended === "" ? fields : fields | withEnded;
    if (set === 0) return;
    const values: SqlValue[] = [];
    for (const [index, { field, column }] of changingFields.entries()) {
      if (has(fields, index)) values.push(encoded(task[field], column));
    }
    if (ended !== "") values.push(ended);
    this.#statement(set).run(...values, task.id);
  };

  #statement(set: FieldSet): SqliteStatement {
    const known = this.#statements.get(set);
    if (known !== undefined) return known;
    const statement = this.#prepare(sqlOf(set));
    this.#statements.set(set, statement);
    return statement;
  }
}
