// What the history of tasks costs: tasks a second with it and without it, in turns, in one process and on one database.
// `npx tsx bench/tasks/recording.ts [sqlite|postgres] [seconds a turn] [turns]`. The bar: at least 0.95 of those without it.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import pg from "pg";
import type { TaskStore } from "../../src/tasks/store.ts";
import { PostgresStore } from "../../src/tasks/stores/postgres/postgres-store.ts";
import { loadDriver } from "../../src/tasks/stores/sqlite/driver.ts";
import { migrate } from "../../src/tasks/stores/sqlite/sqlite-migrations.ts";
import { SqliteStore } from "../../src/tasks/stores/sqlite/sqlite-store.ts";
import { startPostgres } from "../../test/postgres/start.ts";
import { Engine } from "./engine.ts";
import { loop } from "./loop.ts";

const [kind = "postgres", seconds = "5", turns = "6"] = process.argv.slice(2);
const lanes = 16;
const workerConcurrency = 64;

interface Stores {
  readonly recorded: TaskStore;
  /** The same store, on tables that keep no history. */
  readonly bare: TaskStore;
  readonly close: () => Promise<void>;
}

async function onPostgres(): Promise<Stores> {
  const server = await startPostgres();
  const recorded = new PostgresStore(server.url, { schema: "recorded" });
  const bare = new PostgresStore(server.url, { schema: "bare" });
  await recorded.migrate();
  await bare.migrate();
  const admin = new pg.Pool({ connectionString: server.url, max: 1 });
  await admin.query(`
    drop trigger task_runs_end on bare.tasks;
    drop trigger task_waits_change on bare.tasks;
    drop trigger task_history_end on bare.tasks;
    drop index bare.tasks_found;
    drop index bare.tasks_fruitless`);
  await admin.end();
  return { recorded, bare, close: server.stop };
}

async function onSqlite(): Promise<Stores> {
  const folder = mkdtempSync(join(tmpdir(), "parley-recording-"));
  const open = await loadDriver();
  const database = open(join(folder, "bare.db"));
  migrate(database);
  database.exec(`
    drop trigger task_waits_change;
    drop index tasks_found;
    drop index tasks_fruitless;
    drop table task_runs;
    create view task_runs as select '' as task_id, 0 as epoch, '' as worker, 0 as began_at,
      0 as ended_at, '' as how where false;
    create trigger task_runs_ignored instead of insert on task_runs begin select 1; end;
    create trigger task_runs_kept instead of delete on task_runs begin select 1; end`);
  database.close();
  return {
    recorded: new SqliteStore({ path: join(folder, "recorded.db") }),
    bare: new SqliteStore({ path: join(folder, "bare.db") }),
    close: async () => rmSync(folder, { recursive: true, force: true }),
  };
}

const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;

const { recorded, bare, close } = await (kind === "sqlite" ? onSqlite() : onPostgres());
const engines = { recorded: new Engine(recorded), bare: new Engine(bare) };
const limits = { count: Infinity, ms: Number(seconds) * 1_000 };
for (const work of ["straight", "cycle"] as const) {
  const ratios: number[] = [];
  for (let turn = 0; turn <= Number(turns); turn += 1) {
    const rate = async (name: "recorded" | "bare"): Promise<number> => {
      const engine = engines[name];
      await engine.start(workerConcurrency);
      const { perSecond } = await loop(lanes, limits, engine[work]);
      await engine.stop();
      return perSecond;
    };
    const isFirst = turn % 2 === 0;
    const first = await rate(isFirst ? "recorded" : "bare");
    const second = await rate(isFirst ? "bare" : "recorded");
    // The first turn warms both up.
    if (turn > 0) ratios.push(isFirst ? first / second : second / first);
  }
  const shown = ratios.map((ratio) => ratio.toFixed(3)).join(" ");
  console.log(
    `${kind} ${work}: ${median(ratios).toFixed(3)} of the rate without history (${shown})`,
  );
}
await recorded.close();
await bare.close();
await close();
