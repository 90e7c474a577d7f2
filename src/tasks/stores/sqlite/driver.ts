// The little of SQLite that the store uses, over whichever driver there is: Node's own where Node has one that
// needs no flag, else libsql, which is prebuilt and runs on Node 20.

import process from "node:process";
import { ParleyError } from "../../../errors.ts";

export type Value = string | number | null;
export type Row = Readonly<Record<string, unknown>>;

export interface Statement {
  readonly run: (...values: readonly Value[]) => void;
  readonly all: (...values: readonly Value[]) => readonly Row[];
}

export interface Database {
  readonly exec: (sql: string) => void;
  readonly prepare: (sql: string) => Statement;
  readonly close: () => void;
}

export type Driver = (path: string) => Database;

/** Where the drivers come from; a test puts others in their place. */
export interface Drivers {
  readonly builtIn: () => unknown;
  readonly libsql: () => Promise<unknown>;
}

const ours: Drivers = {
  // Not `import`: bundlers and older Nodes stumble over a built-in module that they do not know.
  builtIn: () => process.getBuiltinModule("node:sqlite"),
  libsql: () => import("libsql"),
};

export async function loadDriver(drivers: Drivers = ours): Promise<Driver> {
  const { DatabaseSync } = (drivers.builtIn() ?? {}) as { DatabaseSync?: NodeDatabase };
  if (DatabaseSync !== undefined) return (path) => overNode(new DatabaseSync(path));
  try {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- this is what the package has
    const { default: Libsql } = (await drivers.libsql()) as { default: LibsqlDatabase };
    return (path) => overLibsql(new Libsql(path));
  } catch (cause) {
    throw new ParleyError(
      "no_store",
      "SQLite needs Node 22.13 or later, or the package libsql on older ones: npm install libsql",
      { cause },
    );
  }
}

/** Somebody else holds the lock: worth another try. */
export function isBusy(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  // Node has it under one name, libsql under the other.
  const code = Number(
    "errcode" in error ? error.errcode : "rawCode" in error ? error.rawCode : undefined,
  );
  // The lower byte is the kind; SQLITE_BUSY_RECOVERY and its like are above it.
  return (code & 0xff) === 5 || (code & 0xff) === 6;
}

/** A NUL or half a character does not come back as it was from every driver, so none is let in. */
const untrue = /[\0\p{Surrogate}]/u;
export const isText = (text: string): boolean => !untrue.test(text);

// ----------------------------------------------------------------

interface NodeStatement {
  readonly run: (...values: readonly Value[]) => unknown;
  readonly all: (...values: readonly Value[]) => readonly Row[];
}
interface LibsqlStatement {
  readonly run: (values: readonly Value[]) => unknown;
  readonly all: (values: readonly Value[]) => readonly Row[];
}
interface Connection<S> {
  readonly exec: (sql: string) => unknown;
  readonly prepare: (sql: string) => S;
  readonly close: () => unknown;
}
type NodeDatabase = new (path: string) => Connection<NodeStatement>;
type LibsqlDatabase = new (path: string) => Connection<LibsqlStatement>;

function overNode(database: Connection<NodeStatement>): Database {
  return over(database, (statement) => ({
    run: (...values) => void statement.run(...checked(values)),
    all: (...values) => statement.all(...checked(values)),
  }));
}

function overLibsql(database: Connection<LibsqlStatement>): Database {
  // Always one array: it takes a lone null for a set of named values. And never its `get`: it adds a member.
  return over(database, (statement) => ({
    run: (...values) => void statement.run(checked(values)),
    all: (...values) => statement.all(checked(values)),
  }));
}

function over<S>(database: Connection<S>, wrap: (statement: S) => Statement): Database {
  return {
    exec: (sql) => void database.exec(sql),
    prepare: (sql) => wrap(database.prepare(sql)),
    close: () => void database.close(),
  };
}

function checked(values: readonly Value[]): readonly Value[] {
  if (values.every((value) => typeof value !== "string" || isText(value))) return values;
  throw new TypeError("SQLite cannot keep a text with a NUL or half a character in it.");
}
