// What is used of `pg`, as shapes: who has no `pg` can compile against us.

import type Pg from "pg";
import { explained } from "./errors.ts";

interface Result {
  rows: unknown[];
}

export interface Statement {
  name?: string;
  text: string;
  values?: unknown[];
}

/** A `pg.Pool`, or what looks like one. */
export interface PostgresPool {
  query(statement: string | Statement, values?: unknown[]): Promise<Result>;
  connect(): Promise<unknown>;
  end(): Promise<void>;
}

/** What `connect` gives. */
export interface Client extends Pick<PostgresPool, "query"> {
  on(event: string, listener: (what: { readonly payload?: string }) => void): unknown;
  /** `true`: closed, and not used again. */
  release(destroy?: boolean): void;
}

/** What a real one has besides. */
interface Emitter {
  on?(event: "error", listener: () => void): unknown;
  off?(event: "error", listener: () => void): unknown;
  readonly options?: { readonly max?: number };
}

/** A connection that breaks while nothing is asked of it is told as an event, and unheard that ends the process. */
export function hearErrors(one: object & Emitter): () => void {
  one.on?.("error", ignore);
  return () => void one.off?.("error", ignore);
}

const ignore = (): void => {};

export function sizeOf(pool: PostgresPool & Emitter): number {
  return pool.options?.max ?? 10;
}

/** `Row` is what the statement gives; nobody checks it. */
export async function query<Row>(
  on: Pick<PostgresPool, "query">,
  statement: Statement,
): Promise<Row[]> {
  try {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the statement is ours
    return (await on.query(statement)).rows as Row[];
  } catch (error) {
    throw explained(error);
  }
}

export async function connect(pool: PostgresPool): Promise<Client> {
  try {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- as pg gives it
    return (await pool.connect()) as Client;
  } catch (error) {
    throw explained(error);
  }
}

/** Only those who use Postgres install `pg`. */
export async function openPool(url: string): Promise<PostgresPool> {
  const pg = await loadPg();
  return new pg.Pool({
    connectionString: url,
    max: 10,
    application_name: "parley",
    connectionTimeoutMillis: 10_000,
    keepAlive: true,
    // A connection that has fallen silent must not hold up a worker for as long as TCP takes to notice.
    query_timeout: 15_000,
  });
}

async function loadPg(): Promise<typeof Pg> {
  try {
    return (await import("pg")).default;
  } catch (error) {
    throw new Error("Postgres needs the package pg: npm install pg", { cause: error });
  }
}
