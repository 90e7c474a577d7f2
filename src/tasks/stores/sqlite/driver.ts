// The small part of SQLite that the store uses, on top of an available driver: Node's own if it needs no flag, and
// otherwise libsql, which is prebuilt and runs on Node 20.

import process from "node:process";
import { ParleyError } from "../../../errors.ts";
import type { SqlValue } from "../columns.ts";

/** A row as the driver gives it. */
export type SqliteRow = Readonly<Record<string, unknown>>;

/** A prepared statement. */
export interface SqliteStatement {
  readonly run: (...values: readonly SqlValue[]) => void;
  readonly all: (...values: readonly SqlValue[]) => readonly SqliteRow[];
}

/** An open database. */
export interface SqliteDatabase {
  readonly exec: (sql: string) => void;
  readonly prepare: (sql: string) => SqliteStatement;
  readonly close: () => void;
  /** For a database that takes no SQL for transactions. Default: `begin immediate` and `commit`. */
  readonly transaction?: (<T>(operation: () => T) => T) | undefined;
}

/** Opens a database file. */
export type Driver = (path: string) => SqliteDatabase;

/** Where the drivers come from. Tests replace them. */
export interface Drivers {
  readonly builtIn: () => unknown;
  readonly libsql: () => Promise<unknown>;
}

const ours: Drivers = {
  // This is not an `import`, because bundlers and older Nodes fail on a built-in module that they do not know.
  builtIn: () => withoutWarning(() => process.getBuiltinModule("node:sqlite")),
  libsql: () => installed("libsql"),
};

/** Imports a package by a name that bundlers do not follow, because most programs do not have this one. */
const installed = (name: string): Promise<unknown> => import(name);

/** Node 22 warns in every process that SQLite is experimental. The store uses only what Node 24 has unchanged. */
function withoutWarning<T>(load: () => T): T {
  // oxlint-disable-next-line typescript/unbound-method -- it is put back as it was
  const { emitWarning } = process;
  process.emitWarning = (warning: string | Error, ...more: unknown[]) => {
    if (!String(warning).startsWith("SQLite is an experimental feature"))
      Reflect.apply(emitWarning, process, [warning, ...more]);
  };
  try {
    return load();
  } finally {
    process.emitWarning = emitWarning;
  }
}

/** Loads the driver that is available. */
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
      "SQLite needs Node 22.13 or later, or the package libsql. On an older Node, run: npm install libsql",
      { cause },
    );
  }
}

/** Whether another process holds the lock, so that another try may succeed. */
export function isBusy(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  // Node and libsql use different names for the error code.
  const code = Number(
    "errcode" in error ? error.errcode : "rawCode" in error ? error.rawCode : undefined,
  );
  // The lower byte is the kind of error. Variants such as SQLITE_BUSY_RECOVERY use the bytes above it.
  return (code & 0xff) === 5 || (code & 0xff) === 6;
}

/** Not every driver returns a NUL character or half of a surrogate pair unchanged, so neither is written. */
const changesOnTheWay = /[\0\p{Surrogate}]/u;

/** Whether SQLite returns the text unchanged. */
export const isText = (text: string): boolean => !changesOnTheWay.test(text);

// ---------------------------------------------------------------- the two drivers

interface NodeStatement {
  readonly run: (...values: readonly SqlValue[]) => unknown;
  readonly all: (...values: readonly SqlValue[]) => readonly SqliteRow[];
}
interface LibsqlStatement {
  readonly run: (values: readonly SqlValue[]) => unknown;
  readonly all: (values: readonly SqlValue[]) => readonly SqliteRow[];
}
interface Connection<S> {
  readonly exec: (sql: string) => unknown;
  readonly prepare: (sql: string) => S;
  readonly close: () => unknown;
}
type NodeDatabase = new (path: string) => Connection<NodeStatement>;
type LibsqlDatabase = new (path: string) => Connection<LibsqlStatement>;

function overNode(database: Connection<NodeStatement>): SqliteDatabase {
  return over(database, (statement) => ({
    run: (...values) => void statement.run(...checked(values)),
    all: (...values) => statement.all(...checked(values)),
  }));
}

function overLibsql(database: Connection<LibsqlStatement>): SqliteDatabase {
  // Values go in one array, because libsql reads a single null as a set of named values. `get` is not used, because it
  // adds a member to the row.
  return over(database, (statement) => ({
    run: (...values) => void statement.run(checked(values)),
    all: (...values) => statement.all(checked(values)),
  }));
}

function over<S>(database: Connection<S>, wrap: (statement: S) => SqliteStatement): SqliteDatabase {
  return {
    exec: (sql) => void database.exec(sql),
    prepare: (sql) => wrap(database.prepare(sql)),
    close: () => void database.close(),
  };
}

function checked(values: readonly SqlValue[]): readonly SqlValue[] {
  if (values.every((value) => typeof value !== "string" || isText(value))) return values;
  throw new TypeError("SQLite cannot keep text with a NUL character or half of a surrogate pair.");
}
