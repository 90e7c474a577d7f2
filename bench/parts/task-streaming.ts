// Streams of tasks on Postgres: how long a piece takes from its body to a reader in another replica, against a bare loop of
// insert, NOTIFY and select, and what the streams cost other tasks.

import { setTimeout as pause } from "node:timers/promises";
import pg from "pg";
import { PostgresStore } from "../../src/tasks/stores/postgres/postgres-store.ts";
import { startPostgres } from "../../test/postgres/start.ts";
import type { Bench } from "../bench.ts";
import { median, quantile, short, table } from "../figures.ts";
import { Engine } from "../tasks/engine.ts";
import { streamed, streamer } from "../tasks/streamer.ts";

const streams = 20;
const everyMs = 1_000 / 50;
/** How long the writer collects pieces. */
const batchMs = 100;
/** How many other tasks are under way at once. */
const others = 8;

export async function measureTaskStreaming({ pace, figures }: Bench): Promise<void> {
  const ms = pace.isQuick ? 3_000 : 10_000;
  const rounds = pace.isQuick ? 2 : 5;
  const postgres = await startPostgres();
  const open = () => new PostgresStore(postgres.url);
  const stores = [open(), open(), open()] as const;
  const [writerStore, readerStore, otherStore] = stores;
  await writerStore.migrate();
  const writer = streamer(writerStore, everyMs);
  const reader = streamer(readerStore, everyMs);
  const engine = new Engine(otherStore);
  const bare = await bareLoop(postgres.url);
  const taken: Record<"bare" | "streams" | "alone" | "beside", number[]> = {
    bare: [],
    streams: [],
    alone: [],
    beside: [],
  };
  try {
    await writer.start({ name: "writer", concurrency: 64, pollMs: 1_000, sweepMs: 30_000 });
    await engine.start(others);
    const allStreams = async () => {
      const runs = Array.from({ length: streams }, () => streamed(writer, reader, ms));
      return (await Promise.all(runs)).flat();
    };
    await Promise.all([tasksIn(engine, 1_000), bare.during(1_000)]);
    for (let round = 0; round < rounds; round += 1) {
      taken.bare.push(quantile(await bare.during(ms), 0.95));
      taken.alone.push(await tasksIn(engine, ms));
      taken.streams.push(quantile(await allStreams(), 0.95));
      const [beside] = await Promise.all([tasksIn(engine, ms), allStreams()]);
      taken.beside.push(beside);
    }
  } finally {
    await writer.drain();
    await engine.stop();
    await bare.close();
    await Promise.all(stores.map((store) => store.close()));
    await postgres.stop();
  }
  const allowed = taken.bare.map((p95) => batchMs + 4 * p95);
  const late = figures.ratio("streaming/tasks, p95÷allowed", taken.streams, allowed);
  const beside = figures.ratio("streaming/other tasks, beside÷alone", taken.beside, taken.alone);
  table([
    ["20 streams × 50 pieces a second", "p95, ms", "÷ allowed"],
    ["insert, NOTIFY, select", short(median(taken.bare)), ""],
    ["allowed: a batch and four of these", short(median(allowed)), ""],
    ["from the body to a reader elsewhere", short(median(taken.streams)), short(late.value)],
    ["other tasks", "a second", "÷ alone"],
    ["alone", short(median(taken.alone)), ""],
    ["beside the streams", short(median(taken.beside)), short(beside.value)],
  ]);
}

/** How many tasks are done in a second. */
async function tasksIn(engine: Engine, ms: number): Promise<number> {
  const end = performance.now() + ms;
  let done = 0;
  const lane = async () => {
    for (; performance.now() < end; done += 1) await engine.straight();
  };
  await Promise.all(Array.from({ length: others }, lane));
  return done / (ms / 1_000);
}

/** Twenty lanes, each with as many inserts as a stream has batches. One connection listens, and selects each row. */
async function bareLoop(url: string): Promise<{
  readonly during: (ms: number) => Promise<readonly number[]>;
  readonly close: () => Promise<void>;
}> {
  const pool = new pg.Pool({ connectionString: url, max: 10 });
  const listener = new pg.Client({ connectionString: url });
  await listener.connect();
  await pool.query("create table bare_parts (id text primary key, record text not null)");
  await listener.query("listen bare_parts");
  const waiting = new Map<string, () => void>();
  listener.on("notification", ({ payload = "" }) => {
    void pool
      .query("select record from bare_parts where id = $1", [payload])
      .then(() => waiting.get(payload)?.());
  });
  const record = "x".repeat(200);
  let ids = 0;
  const once = async (): Promise<number> => {
    const id = String((ids += 1));
    const start = performance.now();
    const heard = new Promise<void>((resolve) => void waiting.set(id, resolve));
    await pool.query("insert into bare_parts values ($1, $2)", [id, record]);
    await pool.query("select pg_notify('bare_parts', $1)", [id]);
    await heard;
    waiting.delete(id);
    return performance.now() - start;
  };
  const lane = async (end: number): Promise<readonly number[]> => {
    const times: number[] = [];
    while (performance.now() < end) {
      const took = await once();
      times.push(took);
      await pause(Math.max(0, batchMs - took));
    }
    return times;
  };
  return {
    during: async (ms) => {
      const end = performance.now() + ms;
      return (await Promise.all(Array.from({ length: streams }, () => lane(end)))).flat();
    },
    close: async () => {
      await listener.end();
      await pool.end();
    },
  };
}
