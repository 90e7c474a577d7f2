// One database: statements by name, each tried again where it gave way to another, errors in our words.

import { gaveWay } from "./errors.ts";
import { inTransaction } from "./postgres-migrations.ts";
import { connect, hearErrors, openPool, query } from "./pool.ts";
import type { Client, PostgresPool, Statement } from "./pool.ts";

/** Under READ COMMITTED a statement hardly ever gives way; in a pool with another default it may do so often. */
const mostAttempts = 10;

export class Database<Name extends string> {
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
    this.#given = connection;
    this.#texts = texts;
    const all = Object.entries<string>(texts);
    const names = all.map(([name, text]) => [name, nameOf(name, text)] as const);
    this.#names = new Map(prepare ? names : []);
  }

  readonly run = async <Row>(name: Name, values: readonly unknown[]): Promise<readonly Row[]> =>
    this.#retried(async () => this.#rows(await this.pool(), name, values));

  /** Several statements that are one operation. */
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

  readonly withClient = async <T>(work: (client: Client) => Promise<T>): Promise<T> => {
    const client = await connect(await this.pool());
    // A connection that breaks between two of our statements says so here, and in the next of them.
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

  readonly pool = (): Promise<PostgresPool> => {
    this.#pool ??= this.#open();
    return this.#pool;
  };

  /** A pool that was given belongs to who gave it. */
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
    const statement: Statement = { text, values: [...values] };
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
 * A connection keeps prepared statements by name, and a pool may be shared by stores with different schemas or by
 * two versions of this code: the same name must mean the same text.
 */
function nameOf(name: string, text: string): string {
  let hash = 0xcbf29ce484222325n;
  for (const unit of Buffer.from(text)) {
    hash = BigInt.asUintN(64, (hash ^ BigInt(unit)) * 0x100000001b3n);
  }
  return `parley_${name}_${hash.toString(36)}`;
}
