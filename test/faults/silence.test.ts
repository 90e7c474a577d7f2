// The network to Postgres goes silent: requests get no response and connections stay open, as after a power failure or
// when a firewall forgets its connections. New connections work.

import { connect, createServer } from "node:net";
import type { AddressInfo, Server, Socket } from "node:net";
import pg from "pg";
import { expect, onTestFinished, test } from "vitest";
import { Engine } from "../../src/tasks/engine.fixture.ts";
import { openPool } from "../../src/tasks/stores/postgres/pool.ts";
import { PostgresStore } from "../../src/tasks/stores/postgres/postgres-store.ts";
import { freshDatabase } from "../postgres/database.ts";
import { Hold, isWithin } from "./outage.fixture.ts";

const leaseMs = 3_000;
/** How much a loaded machine may add to a promised time. */
const marginMs = 1_500;

test("a worker whose connections have fallen silent continues over new ones", async () => {
  const postgres = await freshDatabase();
  const way = await Way.to(postgres.port);
  const hold = new Hold();
  const url = postgres.url.replace(`:${postgres.port}/`, `:${way.port}/`);
  const pool = await impatient(url);
  const store = new PostgresStore(pool, { leaseMs });
  const engine = new Engine(store, { hold: hold.handler });
  onTestFinished(async () => {
    // This comes first, so that nothing waits for a response any more.
    way.close();
    await engine.close();
    await store.close();
    await pool.end();
    await postgres.stop();
  });
  await engine.start();
  const { id } = await engine.create("hold");
  await hold.started;
  way.fallSilent();
  expect(await isWithin(leaseMs + marginMs, hold.aborted)).toBe(true);
  expect((await hold.aborted).reason).toBe("LostLease");
  expect(await engine.until(id, ({ status }) => status === "completed")).toMatchObject({
    result: "held again",
  });
});

/** A pool like the one that the store makes, except that it waits less for a response. */
async function impatient(url: string): Promise<pg.Pool> {
  const { options } = (await openPool(url)) as pg.Pool;
  return new pg.Pool({ ...options, query_timeout: Math.min(4_000, options.query_timeout ?? 0) });
}

/** A relay in front of a port. */
class Way {
  readonly #server: Server;
  readonly #sockets: Socket[] = [];

  static async to(port: number): Promise<Way> {
    const way = new Way(port);
    await new Promise<void>((resolve) => {
      way.#server.listen(0, "127.0.0.1", resolve);
    });
    return way;
  }

  private constructor(port: number) {
    this.#server = createServer((here) => {
      const there = connect(port, "127.0.0.1");
      for (const socket of [here, there]) socket.on("error", () => {});
      here.pipe(there).pipe(here);
      this.#sockets.push(here, there);
    });
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** Silences the connections that are open now. */
  fallSilent(): void {
    for (const socket of this.#sockets) socket.unpipe().pause();
  }

  close(): void {
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
  }
}
