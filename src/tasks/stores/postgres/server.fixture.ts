// A database for a test file, with a fresh schema for each test.

import pg from "pg";
import { freshDatabase } from "../../../../test/postgres/database.ts";
import type { Database } from "../../../../test/postgres/database.ts";
import { startPostgres } from "../../../../test/postgres/start.ts";
import type { Postgres, StartOptions } from "../../../../test/postgres/start.ts";
import type { OpenedStore } from "../../../testing/store/opened.ts";
import { PostgresStore } from "./postgres-store.ts";
import type { PostgresStoreOptions } from "./postgres-store.ts";

interface TestOptions extends PostgresStoreOptions {
  /** The address of a pooler before the database. */
  readonly through?: string;
}

export class TestServer<Server extends Database = Database> {
  readonly postgres: Server;
  readonly admin: pg.Pool;
  #schemas = 0;

  static readonly start = async (): Promise<TestServer> => new TestServer(await freshDatabase());

  /** With a Postgres server of its own: to kill it, to set it up in another way, or to add to its roles. */
  static readonly startAlone = async (options?: StartOptions): Promise<TestServer<Postgres>> =>
    new TestServer(await startPostgres(options));

  constructor(postgres: Server) {
    this.postgres = postgres;
    this.admin = new pg.Pool({ connectionString: postgres.url, max: 5 });
    this.admin.on("error", () => {});
  }

  readonly stop = async (): Promise<void> => {
    await this.admin.end();
    await this.postgres.stop();
  };

  /** Opens a store with tables of its own. */
  readonly open = async (options: TestOptions = {}): Promise<TestSchema> => {
    const schema = `test_${++this.#schemas}`;
    const opened = new TestSchema(this, schema, options);
    await opened.store.migrate();
    return opened;
  };

  /** Does the same, with a clock that stands still. */
  readonly openAt = async (startsAt: number, options?: TestOptions): Promise<OpenedStore> => {
    const { schema, store, another, close } = await this.open(options);
    let now = startsAt;
    const set = () =>
      this.admin.query(
        `create or replace function "${schema}".parley_now() returns bigint language sql stable as 'select ${now}::bigint'`,
      );
    await set();
    const advance = async (ms: number) => {
      now += ms;
      await set();
    };
    const hasHints = options?.listen;
    return { store, another: async () => another(), advance, close, hasHints };
  };
}

export class TestSchema {
  readonly schema: string;
  readonly store: PostgresStore;
  readonly #server: TestServer;
  readonly #options: TestOptions;
  readonly #handles: PostgresStore[] = [];

  constructor(server: TestServer, schema: string, options: TestOptions) {
    this.schema = schema;
    this.#server = server;
    this.#options = options;
    this.store = this.another();
  }

  /** A store on the same tables, with a pool of its own. */
  readonly another = (): PostgresStore => {
    const { through, ...given } = this.#options;
    const options = { ...given, schema: this.schema };
    const store = new PostgresStore(through ?? this.#server.postgres.url, options);
    this.#handles.push(store);
    return store;
  };

  readonly close = async (): Promise<void> => {
    await Promise.all(this.#handles.map((store) => store.close()));
    await this.#server.admin.query(`drop schema "${this.schema}" cascade`);
  };
}
