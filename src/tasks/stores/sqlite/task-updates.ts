// Updates of a task that write only the columns that differ. SQLite rewrites each index that has a column of the update, and
// runs each trigger for it, even if the value stays. So a column that is left out costs nothing.

import type { TaskRecord, Wait } from "../../task.ts";
import { changingFields, encoded } from "../columns.ts";
import type { SqlValue } from "../columns.ts";
import type { SqliteDatabase, SqliteStatement } from "./driver.ts";

/** A set of columns: bit n stands for the field with the index n. */
type FieldSet = number;

const all: FieldSet = 2 ** changingFields.length - 1;
const withEnded: FieldSet = 2 ** changingFields.length;
const withWait: FieldSet = 2 * withEnded;

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
/** The columns in which the inbox finds a task that waits for one thing. */
interface NotedWait {
  readonly group: string | null;
  readonly since: number | null;
}

const noWait: NotedWait = { group: null, since: null };

const forPeople = ({ waits: [wait] }: TaskRecord): Wait | undefined =>
  wait?.kind === "timer" ? undefined : wait;

const isSame = (one: Wait, other: Wait): boolean =>
  one.wire === other.wire &&
  one.key === other.key &&
  one.kind === other.kind &&
  one.group === other.group;

const has = (set: FieldSet, index: number): boolean => (set & (1 << index)) !== 0;

function sqlOf(set: FieldSet): string {
  const columns = changingFields.flatMap(({ column: { name } }, index) =>
    has(set, index) ? [`${name} = ?`] : [],
  );
  if ((set & withEnded) !== 0) columns.push("runs = runs || ?");
  if ((set & withWait) !== 0) columns.push("wait_group = ?, wait_since = ?");
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
    const wait = this.waitOf(before, task);
    const set = fields | (ended === "" ? 0 : withEnded) | (wait === undefined ? 0 : withWait);
    if (set === 0) return;
    const values: SqlValue[] = [];
    for (const [index, { field, column }] of changingFields.entries()) {
      if (has(fields, index)) values.push(encoded(task[field], column));
    }
    if (ended !== "") values.push(ended);
    if (wait !== undefined) values.push(wait.group, wait.since);
    this.#statement(set).run(...values, task.id);
  };

  /**
   * What the columns of a wait become. Undefined if they stay as they are, and if a trigger has to look (migration 10): the
   * row is not known, or there are several waits.
   */
  waitOf(before: TaskRecord | undefined, after: TaskRecord): NotedWait | undefined {
    if (before === undefined || before.waits.length > 1 || after.waits.length > 1) return undefined;
    const was = forPeople(before);
    const is = forPeople(after);
    if (is === undefined) return was && noWait;
    return was !== undefined && isSame(was, is)
      ? undefined
      : { group: is.group ?? "", since: after.updatedAt };
  }

  #statement(set: FieldSet): SqliteStatement {
    const known = this.#statements.get(set);
    if (known !== undefined) return known;
    const statement = this.#prepare(sqlOf(set));
    this.#statements.set(set, statement);
    return statement;
  }
}
