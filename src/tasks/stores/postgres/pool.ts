// The part of `pg` that the store uses, as interfaces, so that a program compiles without the package `pg`.

import type Pg from "pg";
import { explained } from "./errors.ts";

/** What a query returns. */
export interface PostgresResult {
  /** The rows. */
  rows: unknown[];
}

/** A statement with its values. */
export interface PostgresStatement {
  /** The name that the connection keeps the prepared statement under. Absent if it is not prepared. */
  name?: string;
  /** The SQL. */
  text: string;
  /** The values of `$1`, `$2` and so on. */
  values?: unknown[];
}

/** A `pg.Pool`, or an object that works like one. */
export interface PostgresPool {
  /** Runs a statement on any connection of the pool. */
  query(statement: string | PostgresStatement, values?: unknown[]): Promise<PostgresResult>;
  /** Lends a connection, as `pg` does. */
  connect(): Promise<unknown>;
  /** Closes all connections. */
  end(): Promise<void>;
}

/** A connection that `connect` lends. */
export interface PostgresClient extends Pick<PostgresPool, "query"> {
  on(event: string, listener: (what: { readonly payload?: string }) => void): unknown;
  /** Gives the connection back. With `true`, it is closed instead. */
  release(destroy?: boolean): void;
}

/** What a real pool or connection of `pg` has besides. */
interface Emitter {
  on?(event: "error", listener: () => void): unknown;
  off?(event: "error", listener: () => void): unknown;
  readonly options?: { readonly max?: number };
}

/**
 * Listens for errors. A connection that breaks while it is idle emits an error event, and without a listener that event
 * ends the process. Returns a function that stops listening.
 */
export function hearErrors(one: object & Emitter): () => void {
  one.on?.("error", ignore);
  return () => void one.off?.("error", ignore);
}

const ignore = (): void => {};

/** How many connections a pool may open. */
export function sizeOf(pool: PostgresPool & Emitter): number {
  return pool.options?.max ?? 10;
}

/** Runs a statement. `Row` says what it returns, and is not checked. */
export async function query<Row>(
  on: Pick<PostgresPool, "query">,
  statement: PostgresStatement,
): Promise<Row[]> {
  try {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the statement is our own
    return (await on.query(statement)).rows as Row[];
  } catch (error) {
    throw explained(error);
  }
}

/** Takes a connection from the pool. */
export async function connect(pool: PostgresPool): Promise<PostgresClient> {
  try {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- as pg gives it
    return (await pool.connect()) as PostgresClient;
  } catch (error) {
    throw explained(error);
  }
}

/** Makes a pool. `pg` is loaded here, because only programs that use Postgres install it. */
export async function openPool(url: string): Promise<PostgresPool> {
  const pg = await loadPg();
  return new pg.Pool({
    connectionString: url,
    max: 10,
    application_name: "parley",
    connectionTimeoutMillis: 10_000,
    keepAlive: true,
    // A connection that no longer responds must not block a worker for as long as TCP takes to notice.
    query_timeout: 15_000,
  });
}

async function loadPg(): Promise<typeof Pg> {
  try {
    return (await import("pg")).default;
  } catch (error) {
    throw new Error("postgresStore() needs the package pg. Run: npm install pg", { cause: error });
  }
}
