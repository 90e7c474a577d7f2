// A task store: whether it can be reached, has its tables, and is being worked on. Nothing is changed.

import { existsSync } from "node:fs";
import { Database } from "../../tasks/stores/postgres/database.ts";
import { migrationSql as postgresSql } from "../../tasks/stores/postgres/migrations.ts";
import { query } from "../../tasks/stores/postgres/pool.ts";
import { quoted } from "../../tasks/stores/postgres/schema.ts";
import { loadDriver } from "../../tasks/stores/sqlite/driver.ts";
import { migrationSql as sqliteSql } from "../../tasks/stores/sqlite/migrations.ts";
import type { Figures } from "../../tasks/store.ts";
import { duration } from "../amounts.ts";
import { withStore } from "../tasks-in-store.ts";
import { fine, notChecked, reasonOf, wrong } from "./finding.ts";
import type { Finding } from "./finding.ts";

/** A worker is seen every third of a lease. */
const silenceMs = 60_000;
const overdueMs = 60_000;

export async function storeFindings(
  store: string,
  schema: string | undefined,
): Promise<readonly Finding[]> {
  const isPostgres = /^postgres(ql)?:/.test(store);
  if (!isPostgres && !existsSync(store)) {
    return [wrong("store", `there is no file ${store}. A server makes it when it starts.`)];
  }
  try {
    const missing = await (isPostgres ? missingInPostgres(store, schema) : missingInFile(store));
    if (missing > 0) {
      const advice = `run: parley migrate ${isPostgres ? '"$DATABASE_URL"' : store}`;
      return [
        fine("store", "it can be reached"),
        wrong("migrations", `${missing} to be done; ${advice}`),
      ];
    }
    const figures = await withStore(store, schema, (opened) => opened.figures());
    return [fine("store", "it can be reached"), fine("migrations", "up to date"), ...work(figures)];
  } catch (error) {
    return [wrong("store", reasonOf(error))];
  }
}

async function missingInFile(file: string): Promise<number> {
  const open = await loadDriver();
  const database = open(file);
  try {
    const [table] = database
      .prepare("select 1 from sqlite_master where name = 'parley_schema'")
      .all();
    const done = table && database.prepare("select max(step) as step from parley_schema").all()[0];
    return known(sqliteSql(), /^-- step \d+$/gm) - Number(done?.["step"] ?? 0);
  } finally {
    database.close();
  }
}

async function missingInPostgres(url: string, schema = "parley"): Promise<number> {
  const database = new Database(url, {}, false);
  const name = quoted(schema);
  try {
    const done = await database.withClient(async (client) => {
      const text = `select to_regclass('${name}.migrations') is not null as has`;
      const [table] = await query<{ has: boolean }>(client, { text });
      if (table?.has !== true) return [];
      return query<{ number: number }>(client, { text: `select number from ${name}.migrations` });
    });
    return known(postgresSql(schema), /^insert into \S+migrations /gm) - done.length;
  } finally {
    await database.close();
  }
}

/** How many there are, by what `parley migrate --print` prints. */
const known = (sql: string, each: RegExp): number => sql.match(each)?.length ?? 0;

function work({ now, live, held, oldestDueAt, workerSeenAt }: Figures): readonly Finding[] {
  const seenMs = workerSeenAt === undefined ? Infinity : now - workerSeenAt;
  const dueMs = oldestDueAt === undefined ? 0 : now - oldestDueAt;
  const tasks = `${live} live, ${held} being run`;
  return [
    workerFinding(seenMs, live),
    dueMs > overdueMs
      ? wrong(
          "tasks",
          `${tasks}; one has been due for ${duration(dueMs)}: add workers, or one that knows its tool.`,
        )
      : fine("tasks", tasks),
  ];
}

function workerFinding(seenMs: number, live: number): Finding {
  if (seenMs <= silenceMs) return fine("worker", `seen ${duration(seenMs)} ago`);
  const when =
    seenMs === Infinity ? "none was ever seen" : `the last was seen ${duration(seenMs)} ago`;
  if (live === 0) return notChecked("worker", `${when}; there is nothing to do either.`);
  return wrong("worker", `${when}, and tasks wait: run parley worker <file>, or app.listen().`);
}
