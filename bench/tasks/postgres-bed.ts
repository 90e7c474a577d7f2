import { existsSync, readFileSync } from "node:fs";
import pg from "pg";
import type { TaskStore } from "../../src/tasks/store.ts";
import { notify, PostgresStore } from "../../src/tasks/stores/postgres/postgres-store.ts";
import { childrenOf } from "../../test/postgres/processes.ts";
import { startPostgres } from "../../test/postgres/start.ts";
import type { Bare, Bed } from "./bed.ts";
import { Count, countPool, labelOf } from "./count.ts";
import { openDbos } from "./dbos.ts";
import { openOpenWorkflow } from "./openworkflow.ts";

/** The size of Parley's pool. Those of openworkflow and DBOS have the same size by default. */
const connections = 10;

export async function postgresBed(): Promise<Bed> {
  const postgres = await startPostgres();
  const count = new Count();
  const pools: pg.Pool[] = [];
  const stores: TaskStore[] = [];
  const poolOf = (max: number): pg.Pool => {
    const pool = new pg.Pool({ connectionString: postgres.url, max, keepAlive: true });
    pool.on("error", () => {});
    pools.push(pool);
    return pool;
  };
  const admin = poolOf(1);
  const ask = async (text: string): Promise<Readonly<Record<string, string>>> =>
    (await admin.query<Record<string, string>>(text)).rows[0] ?? {};
  let schemas = 0;
  let schema = "";

  const store = async (): Promise<TaskStore> => {
    schema = `parley_${(schemas += 1)}`;
    const pool = poolOf(connections);
    countPool(pool, count);
    const made = new PostgresStore(pool, { schema });
    stores.push(made);
    await made.migrate();
    return made;
  };

  const bare = async (): Promise<readonly Bare[]> => {
    const pool = poolOf(connections);
    const name = `bare_${(schemas += 1)}`;
    await admin.query(
      `create table ${name} (id text collate "C" primary key, state text not null, updates integer not null)
        with (fillfactor = 80)`,
    );
    const insert = `insert into ${name} values ($1, $2, 0)`;
    const update = `update ${name} set state = $2, updates = updates + 1 where id = $1`;
    return [
      {
        name: "bare",
        insert: async (id, state) =>
          void (await pool.query({ name: "insert", text: insert, values: [id, state] })),
        update: async (id, state) =>
          void (await pool.query({ name: "update", text: update, values: [id, state] })),
        counted: async () => {
          const row = await ask(
            `select count(*) as rows, coalesce(sum(updates), 0) as updates from ${name}`,
          );
          return { rows: Number(row["rows"]), updates: Number(row["updates"]) };
        },
      },
    ];
  };

  const { v, f, s } = await ask(
    "select current_setting('server_version') v, current_setting('fsync') f, current_setting('synchronous_commit') s",
  );
  let looks = 0;
  return {
    name: "postgres",
    about: `Postgres ${v}, fsync=${f}, synchronous_commit=${s}, pools of ${connections}`,
    count,
    store,
    bare,
    rivals: async () => [
      await openOpenWorkflow({ postgres: postgres.url, schema: `other_${(schemas += 1)}` }),
      await openDbos(postgres.url),
    ],
    // Every transaction that writes gets an id, including this one. NOTIFY gets one, too, but it writes nothing
    // that is waited for, so it is not counted.
    commits: async () => {
      const row = await ask("select pg_current_xact_id()::text as id");
      looks += 1;
      return Number(row["id"]) - looks - count.ever(labelOf(notify));
    },
    server: async () => {
      const row = await ask("select pg_current_wal_insert_lsn() - '0/0' as bytes");
      return { cpuMs: cpuOf(postgres.pid), walBytes: Number(row["bytes"]) };
    },
    diskBytes: async () => {
      const row = await ask(
        `select sum(pg_total_relation_size(oid)) as bytes from pg_class
          where relnamespace = '${schema}'::regnamespace and relkind = 'r'`,
      );
      return Number(row["bytes"]);
    },
    close: async () => {
      for (const one of stores) await one.close();
      await Promise.all(pools.map((pool) => pool.end()));
      await postgres.stop();
    },
  };
}

/** Processor time of the server's processes, including those that have ended. NaN where there is no /proc. */
function cpuOf(pid: number): number {
  const ticks = childrenOf(pid).reduce((sum, child) => sum + ticksOf(child, 2), ticksOf(pid, 4));
  return ticks * 10;
}

/** In hundredths of a second: user and system, and with four fields those of ended children, too. */
function ticksOf(pid: number, fields: 2 | 4): number {
  try {
    const all = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]?.split(" ") ?? [];
    return all.slice(11, 11 + fields).reduce((sum, field) => sum + Number(field), 0);
  } catch {
    return existsSync("/proc/self/stat") ? 0 : Number.NaN;
  }
}
