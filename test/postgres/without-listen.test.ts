// Postgres without LISTEN: a store that does not listen, and a database that refuses it. Polling finds everything.

import pg from "pg";
import { parley } from "mcp-parley";
import type { App } from "mcp-parley";
import { postgresStore } from "mcp-parley/postgres";
import type { PostgresPool } from "mcp-parley/postgres";
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from "vitest";
import { keys, quiet } from "../interop/errands.ts";
import { patience } from "../patience.ts";
import { accept, envelope, exchange } from "../wire/post.ts";
import { call, follows, taskIdIn } from "../wire/task-calls.ts";
import { freshDatabase } from "./database.ts";
import type { Database } from "./database.ts";

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

let database: Database;
beforeAll(async () => void (database = await freshDatabase()));
afterAll(() => database.stop());

/** A pool that notes what runs on it, and on which nobody can listen if it refuses that. */
class WatchedPool implements PostgresPool {
  readonly listens: string[] = [];
  readonly #pool = new pg.Pool({ connectionString: database.url, max: 5 });
  readonly #refuses: boolean;

  constructor(refuses: boolean) {
    this.#refuses = refuses;
  }

  readonly query: PostgresPool["query"] = (statement, values) =>
    this.#pool.query(statement, values);
  readonly end = (): Promise<void> => this.#pool.end();

  readonly connect = async (): Promise<unknown> => {
    const client = await this.#pool.connect();
    return new Proxy(client, {
      get: (target, name) => {
        if (name === "query") return (...given: [string]) => this.#run(target, ...given);
        const value: unknown = Reflect.get(target, name);
        return typeof value === "function" ? value.bind(target) : value;
      },
    });
  };

  async #run(client: pg.PoolClient, ...given: [string]): Promise<unknown> {
    if (String(given[0]).startsWith("listen")) {
      this.listens.push(given[0]);
      if (this.#refuses) throw new Error("LISTEN is not supported.");
    }
    return client.query(...given);
  }
}

function replica(pool: PostgresPool, schema: string, listen: boolean): App {
  const store = postgresStore(pool, { schema, listen });
  const app = parley({ name: "cookery", version: "1.0.0", keys, logger: quiet, store });
  app.tool("cook", { task: "required" }, async (ctx) => {
    await ctx.background();
    return (await ctx.confirm("salt", "Salt?")) ? "salted" : "plain";
  });
  onTestFinished(async () => {
    await app.close();
    await store.close();
    await pool.end();
  });
  return app;
}

const ways = [
  { what: "the store does not listen", listen: false, refuses: false, schema: "quiet" },
  { what: "the database refuses LISTEN", listen: true, refuses: true, schema: "refused" },
];

test.each(ways)(
  "if $what, a task answered on one replica continues on another",
  async ({ listen, refuses, schema }) => {
    const pools = [new WatchedPool(refuses), new WatchedPool(refuses)] as const;
    const front = replica(pools[0], schema, listen);
    const back = replica(pools[1], schema, listen);
    await back.work();
    const taskId = taskIdIn(await call(front, "cook"));
    const capabilities = follows;
    const read = async () =>
      (await exchange(front, envelope("tasks/get", { taskId }, { capabilities }))).result;
    await vi.waitFor(
      async () => expect(await read()).toMatchObject({ status: "input_required" }),
      patience,
    );
    const inputResponses = { salt: accept() };
    await exchange(front, envelope("tasks/update", { taskId, inputResponses }, { capabilities }));
    await vi.waitFor(
      async () => expect(await read()).toMatchObject({ status: "completed" }),
      patience,
    );
    expect(pools.flatMap(({ listens }) => listens).length > 0).toBe(refuses);
  },
);
