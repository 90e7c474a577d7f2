// A Postgres database: it runs statements by name, tries a statement again if it had to give way to another one, and
// explains errors.

import { checkUrl, gaveWay } from "./errors.ts";
import { inTransaction } from "./postgres-migrations.ts";
import { connect, hearErrors, openPool, query } from "./pool.ts";
import type { PostgresClient, PostgresPool, PostgresStatement } from "./pool.ts";

/** Under READ COMMITTED a statement hardly ever has to give way. In a pool with a stricter default it may do so often. */
const mostAttempts = 10;

/** A database with its pool and its statements. */
export class PostgresDatabase<Name extends string> {
  readonly #texts: Readonly<Record<Name, string>>;
  readonly #names: ReadonlyMap<string, string>;
  readonly #given: string | PostgresPool;
  #pool: Promise<PostgresPool> | undefined;
  #stopHearing = () => {};

  constructor(
    connection: string | PostgresPool,
    texts: Readonly<Record<Name, string>>,
    prepare: boolean,
  ) {
    if (typeof connection === "string") checkUrl(connection);
    this.#given = connection;
    this.#texts = texts;
    const all = Object.entries<string>(texts);
    const names = all.map(([name, text]) => [name, nameOf(name, text)] as const);
    this.#names = new Map(prepare ? names : []);
  }

  /** Runs one statement. */
  readonly run = async <Row>(name: Name, values: readonly unknown[]): Promise<readonly Row[]> =>
    this.#retried(async () => this.#rows(await this.pool(), name, values));

  /** Runs several statements as one operation. */
  readonly together = <T>(
    work: (
      run: <Row>(name: Name, values: readonly unknown[]) => Promise<readonly Row[]>,
    ) => Promise<T>,
  ): Promise<T> =>
    this.#retried(() =>
      this.withClient((client) =>
        inTransaction(client, () => work((name, values) => this.#rows(client, name, values))),
      ),
    );

  /** Lends a connection of its own to this work. */
  readonly withClient = async <T>(work: (client: PostgresClient) => Promise<T>): Promise<T> => {
    const client = await connect(await this.pool());
    // A connection that breaks between two statements emits an error, and the next statement fails, too.
    const stopHearing = hearErrors(client);
    let isBroken = true;
    try {
      const done = await work(client);
      isBroken = false;
      return done;
    } finally {
      client.release(isBroken);
      stopHearing();
    }
  };

  /** The pool, which is opened when it is first needed. */
  readonly pool = (): Promise<PostgresPool> => {
    this.#pool ??= this.#open();
    return this.#pool;
  };

  /** Closes the pool, unless the caller passed it in: then it stays open. */
  readonly close = async (): Promise<void> => {
    const pool = await this.#pool?.catch(() => undefined);
    this.#pool = Promise.reject(new Error("This store is closed."));
    this.#pool.catch(() => {});
    this.#stopHearing();
    if (typeof this.#given === "string") await pool?.end();
  };

  async #open(): Promise<PostgresPool> {
    const pool = typeof this.#given === "string" ? await openPool(this.#given) : this.#given;
    this.#stopHearing = hearErrors(pool);
    return pool;
  }

  async #rows<Row>(
    on: Pick<PostgresPool, "query">,
    name: Name,
    values: readonly unknown[],
  ): Promise<readonly Row[]> {
    const text = this.#texts[name];
    const prepared = this.#names.get(name);
    const statement: PostgresStatement = { text, values: [...values] };
    if (prepared !== undefined) statement.name = prepared;
    return query<Row>(on, statement);
  }

  async #retried<T>(work: () => Promise<T>): Promise<T> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await work();
      } catch (error) {
        if (!gaveWay(error) || attempt === mostAttempts) throw error;
      }
    }
  }
}

/**
 * A connection keeps prepared statements by name. Stores with different schemas, or two versions of this code, may
 * share a pool, so the same name must always mean the same text.
 */
function nameOf(name: string, text: string): string {
  let hash = 0xcbf29ce484222325n;
  for (const unit of Buffer.from(text)) {
    hash = BigInt.asUintN(64, (hash ^ BigInt(unit)) * 0x100000001b3n);
  }
  return `parley_${name}_${hash.toString(36)}`;
}
