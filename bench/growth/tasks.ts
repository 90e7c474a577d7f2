// How tasks cost more with their size and number: entries of one task, workers beside each other, tasks that are parked.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { PostgresStore } from "../../src/tasks/stores/postgres/postgres-store.ts";
import { SqliteStore } from "../../src/tasks/stores/sqlite/sqlite-store.ts";
import { startPostgres } from "../../test/postgres/start.ts";
import type { Postgres } from "../../test/postgres/start.ts";
import { quantile } from "../figures.ts";
import { Count, countPool } from "../tasks/count.ts";
import { Engine, newKeyring } from "../tasks/engine.ts";
import type { Parked } from "../tasks/engine.ts";
import { loop } from "../tasks/loop.ts";
import type { Curve } from "./curve.ts";

/** One task that records this many steps, asks, and is answered. SQLite, so that everything is in this process. */
export async function entriesCurve(times: number): Promise<Curve> {
  const folder = mkdtempSync(join(tmpdir(), "parley-growth-"));
  const store = new SqliteStore({ path: join(folder, "tasks.db") });
  await store.migrate();
  const engine = new Engine(store);
  const points: [number, number][] = [];
  try {
    await engine.start(16);
    await loop(4, { count: 40, ms: 30_000 }, () => engine.withSteps(30));
    for (const entries of [10, 30, 100, 300, 1_000]) {
      const limits = { count: Math.max(times, Math.ceil((300 * times) / entries)), ms: 60_000 };
      const { cpuMs } = await loop(2, limits, () => engine.withSteps(entries));
      points.push([entries, cpuMs]);
    }
  } finally {
    await engine.stop();
    await store.close();
    rmSync(folder, { recursive: true, force: true });
  }
  return {
    name: "entries",
    title: "Entries of a task, SQLite",
    x: "entries that one task records",
    y: "processor time of the whole task, ms",
    points,
  };
}

/** The same load for more and more workers. Each has a store and connections of its own, as a process would have. */
export async function workersCurve(postgres: Postgres, cycles: number): Promise<Curve> {
  const points: [number, number][] = [];
  for (const workers of [1, 4, 16, 64]) {
    const count = new Count();
    const keyring = newKeyring();
    const pools = Array.from({ length: workers }, () => poolOf(postgres, 2));
    const stores = pools.map((pool) => {
      countPool(pool, count);
      return new PostgresStore(pool, { schema: `workers_${workers}` });
    });
    await stores[0]?.migrate();
    const engines = stores.map((store) => new Engine(store, keyring));
    for (const engine of engines) await engine.start(4);
    try {
      const turn = (number: number) =>
        loop(16, { count: number, ms: 60_000 }, async (lane) => engines[lane % workers]?.cycle());
      await turn(32);
      count.reset();
      const done = await turn(cycles);
      points.push([workers, count.total() / done.count]);
    } finally {
      await Promise.all(engines.map((engine) => engine.stop()));
      await Promise.all(stores.map((store) => store.close()));
      await Promise.all(pools.map((pool) => pool.end()));
    }
  }
  return {
    name: "workers",
    title: "Workers on one Postgres",
    x: "workers, with 16 tasks under way",
    y: "statements of all workers for each task",
    points,
  };
}

/** Some tasks are real. The others are copies of one of them, made by the database, and nobody ever answers them. */
export async function parkedCurve(
  postgres: Postgres,
  sizes: readonly number[],
  answers: number,
): Promise<{ readonly curve: Curve; readonly diskBytes: number }> {
  const schema = "parked";
  const pool = poolOf(postgres, 10);
  const store = new PostgresStore(pool, { schema });
  await store.migrate();
  const engine = new Engine(store);
  const points: [number, number][] = [];
  let diskBytes = 0;
  try {
    await engine.start(16);
    await loop(8, { count: 200, ms: 60_000 }, engine.cycle);
    for (const size of sizes) {
      const real: Parked[] = [];
      await loop(16, { count: answers, ms: 60_000 }, async () => real.push(await engine.park()));
      await allParked(pool, schema);
      await fill(pool, schema, size);
      diskBytes = (await bytesOf(pool, schema)) / size;
      const latencies: number[] = [];
      for (const task of real) latencies.push(await engine.complete(task));
      points.push([size, quantile(latencies, 0.5)]);
    }
  } finally {
    await engine.stop();
    await store.close();
    await pool.end();
  }
  return {
    curve: {
      name: "parked",
      title: "Parked tasks, Postgres",
      x: "parked tasks",
      y: "answer to completion, median ms",
      points,
    },
    diskBytes,
  };
}

export const withPostgres = async <T>(work: (postgres: Postgres) => Promise<T>): Promise<T> => {
  const postgres = await startPostgres({ settings: { max_connections: "300" } });
  try {
    return await work(postgres);
  } finally {
    await postgres.stop();
  }
};

function poolOf({ url }: Postgres, max: number): pg.Pool {
  const pool = new pg.Pool({ connectionString: url, max });
  pool.on("error", () => {});
  return pool;
}

async function allParked(pool: pg.Pool, schema: string): Promise<void> {
  for (let tries = 0; tries < 600; tries += 1) {
    const { rows } = await pool.query<{ busy: number }>(
      `select count(*)::int as busy from ${schema}.tasks where status = 'working'`,
    );
    if (rows[0]?.busy === 0) return;
    await new Promise<void>((resolve) => void setTimeout(resolve, 100));
  }
  throw new Error("The tasks were not parked within a minute.");
}

/** Copies one task without naming columns, so that this need not change with the tables, until this many are parked. */
async function fill(pool: pg.Pool, schema: string, size: number): Promise<void> {
  const { rows: found } = await pool.query<{ id: string; parked: number }>(
    `select min(id) filter (where id not like 'copy %') as id, count(*)::int as parked
      from ${schema}.tasks where status = 'input_required'`,
  );
  const { rows: parts } = await pool.query<{ name: string }>(
    `select table_name as name from information_schema.columns
      where table_schema = $1 and column_name = 'task_id'`,
    [schema],
  );
  const { id, parked = 0 } = found[0] ?? {};
  const name = `'copy ${size} ' || number`;
  const copy = (table: string, key: string, values: string) =>
    pool.query(
      `insert into ${schema}.${table}
        select copied.* from ${schema}.${table} as one, generate_series(1, $2::int) as number,
          lateral jsonb_populate_record(one, jsonb_build_object(${values})) as copied
        where one.${key} = $1`,
      [id, size - parked],
    );
  const principal = "'principal, copied ' || number / 100";
  await copy("tasks", "id", `'id', ${name}, 'call_id', ${name}, 'principal', ${principal}`);
  for (const part of parts) await copy(part.name, "task_id", `'task_id', ${name}`);
  // As autovacuum would, sooner or later.
  await pool.query("vacuum (analyze)");
}

async function bytesOf(pool: pg.Pool, schema: string): Promise<number> {
  const { rows } = await pool.query<{ bytes: string }>(
    `select sum(pg_total_relation_size(oid)) as bytes from pg_class
      where relnamespace = '${schema}'::regnamespace and relkind = 'r'`,
  );
  return Number(rows[0]?.bytes);
}
