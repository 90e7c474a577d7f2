// What the history of tasks costs: tasks a second with it and without it, in turns, in one process and on one database.
// `npx tsx bench/tasks/recording.ts [sqlite|postgres] [seconds a turn] [turns]`. The bar: at least 0.95 of those without it.
// On a busy machine the rates scatter, so the processor time of a task is measured as well: in this process, and in the
// processes of Postgres that serve it. With enough turns, the command fails if either is clearly below the bar.

import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import pg from "pg";
import type { TaskStore } from "../../src/tasks/store.ts";
import { PostgresStore } from "../../src/tasks/stores/postgres/postgres-store.ts";
import { HistoryTable } from "../../src/tasks/stores/sqlite/history-table.ts";
import { loadDriver } from "../../src/tasks/stores/sqlite/driver.ts";
import { migrate } from "../../src/tasks/stores/sqlite/sqlite-migrations.ts";
import { TaskUpdates } from "../../src/tasks/stores/sqlite/task-updates.ts";
import { SqliteStore } from "../../src/tasks/stores/sqlite/sqlite-store.ts";
import { childrenOf } from "../../test/postgres/processes.ts";
import { startPostgres } from "../../test/postgres/start.ts";
import { Engine } from "./engine.ts";
import { loop } from "./loop.ts";

const [kind = "postgres", seconds = "2", turns = "20"] = process.argv.slice(2);
const lanes = 16;
const workerConcurrency = 64;
const bar = 0.95;
/** With fewer turns, the figures say too little to fail. */
const enoughTurns = 10;

interface Stores {
  readonly recorded: TaskStore;
  /** The same store, on tables that keep no history. */
  readonly bare: TaskStore;
  /** Which processes of the database have used how much processor time, in milliseconds. */
  readonly cpu: () => ReadonlyMap<number, number>;
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
    drop trigger task_history on bare.tasks;
    drop trigger task_history_end on bare.tasks;
    drop index bare.tasks_found;
    drop index bare.tasks_retried;
    drop index bare.tasks_waiting`);
  await admin.end();
  const cpu = () => new Map(childrenOf(server.pid).map((pid) => [pid, cpuOf(pid)]));
  return { recorded, bare, cpu, close: server.stop };
}

async function onSqlite(): Promise<Stores> {
  const folder = mkdtempSync(join(tmpdir(), "parley-recording-"));
  const open = await loadDriver();
  const database = open(join(folder, "bare.db"));
  migrate(database);
  database.exec(`
    drop trigger task_waits_change;
    drop index tasks_waiting;
    drop index tasks_unheld;
    drop index tasks_fruitless`);
  database.close();
  return {
    recorded: new SqliteStore({ path: join(folder, "recorded.db") }),
    bare: new SqliteStore({ path: join(folder, "bare.db") }),
    cpu: () => new Map(),
    close: async () => rmSync(folder, { recursive: true, force: true }),
  };
}

/** The processor time of a process, in milliseconds. 0 where the system does not tell. */
function cpuOf(pid: number): number {
  try {
    return Number(readFileSync(`/proc/${pid}/schedstat`, "utf8").split(" ")[0]) / 1e6;
  } catch {
    return 0;
  }
}

const { recorded, bare, cpu, close } = await (kind === "sqlite" ? onSqlite() : onPostgres());
const engines = { recorded: new Engine(recorded), bare: new Engine(bare) };
const limits = { count: Infinity, ms: Number(seconds) * 1_000 };
// SQLite's runs and waits are written by the store. Only one of the two engines works at a time.
// oxlint-disable-next-line typescript/unbound-method -- it is put back as a method
const { ended } = HistoryTable.prototype;
// oxlint-disable-next-line typescript/unbound-method -- it is put back as a method
const { waitOf } = TaskUpdates.prototype;

interface Turn {
  readonly perSecond: number;
  /** The processor time of a task, in milliseconds. */
  readonly cpuMs: number;
}

async function turnOf(name: "recorded" | "bare", work: "straight" | "cycle"): Promise<Turn> {
  const engine = engines[name];
  HistoryTable.prototype.ended = name === "bare" ? () => "" : ended;
  TaskUpdates.prototype.waitOf = name === "bare" ? () => undefined : waitOf;
  await engine.start(workerConcurrency);
  const before = cpu();
  const { count, perSecond, cpuMs } = await loop(lanes, limits, engine[work]);
  const served = [...cpu()].reduce((sum, [pid, ms]) => sum + ms - (before.get(pid) ?? 0), 0);
  await engine.stop();
  return { perSecond, cpuMs: cpuMs + served / count };
}

function spread(ratios: readonly number[]): { median: number; upper: number; shown: string } {
  const sorted = ratios.toSorted((a, b) => a - b);
  const at = (part: number) => sorted[Math.floor((sorted.length - 1) * part)] ?? Number.NaN;
  const quartiles = `${at(0.25).toFixed(3)} to ${at(0.75).toFixed(3)}`;
  return {
    median: at(0.5),
    upper: at(0.75),
    shown: `${at(0.5).toFixed(3)} (half of ${ratios.length} turns: ${quartiles})`,
  };
}

let isBelow = false;
for (const work of ["straight", "cycle"] as const) {
  const rates: number[] = [];
  const costs: number[] = [];
  const ms: number[] = [];
  for (let turn = 0; turn <= Number(turns); turn += 1) {
    const isFirst = turn % 2 === 0;
    const first = await turnOf(isFirst ? "recorded" : "bare", work);
    const second = await turnOf(isFirst ? "bare" : "recorded", work);
    const [noted, plain] = isFirst ? [first, second] : [second, first];
    // The first turn warms both up.
    if (turn === 0) continue;
    rates.push(noted.perSecond / plain.perSecond);
    costs.push(plain.cpuMs / noted.cpuMs);
    ms.push(plain.cpuMs);
  }
  const [rate, cost] = [spread(rates), spread(costs)];
  // Another load slows a turn down and never speeds one up, so a rate counts as too low only if most of them are.
  isBelow ||= cost.median < bar || rate.upper < bar;
  console.log(`${kind} ${work}: of the rate without history ${rate.shown}`);
  console.log(
    `${kind} ${work}: of the tasks for the same processor time ${cost.shown}; ` +
      `${spread(ms).median.toFixed(2)} ms a task without history`,
  );
}
await recorded.close();
await bare.close();
await close();
if (isBelow && Number(turns) >= enoughTurns) {
  console.error(`Recording costs more than ${((1 - bar) * 100).toFixed(0)} %.`);
  process.exitCode = 1;
}
