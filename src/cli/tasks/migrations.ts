// Finds out which migrations a task store lacks, without changing it. Opening a store would apply them.

import { statSync } from "node:fs";
import { errorText } from "../../util/error-text.ts";
import { UsageError } from "../command.ts";
import { plainLine } from "../screen/plain.ts";
import { PostgresDatabase } from "../../tasks/stores/postgres/database.ts";
import { migrationSql as postgresSql } from "../../tasks/stores/postgres/postgres-migrations.ts";
import { query } from "../../tasks/stores/postgres/pool.ts";
import { quoted } from "../../tasks/stores/postgres/schema-name.ts";
import { loadDriver } from "../../tasks/stores/sqlite/driver.ts";
import {
  migrationSql as sqliteSql,
  missingSql,
} from "../../tasks/stores/sqlite/sqlite-migrations.ts";

/** Whether a store is Postgres. Everything else is a SQLite file. */
export const isPostgres = (target: string): boolean => /^postgres(ql)?:/.test(target);

/** Throws if this is the address of a server, which many people know better than its store. */
export function checkStore(target: string): void {
  if (!/^https?:\/\//i.test(target)) return;
  throw new UsageError(
    `${plainLine(target, 200)} is a server, not a store. This command needs a store; use \`tasks get\`, \`watch\`, \`answer\` or \`cancel\` with this address.`,
  );
}

/** How many migrations are missing. Throws if there is no store. */
export async function missingMigrations(
  target: string,
  schema: string | undefined,
): Promise<number> {
  checkStore(target);
  if (isPostgres(target)) return missingInPostgres(target, schema);
  if (statSync(target, { throwIfNoEntry: false })?.isFile() !== true) {
    throw new Error(`There is no store at ${target}. A server creates it when it starts.`);
  }
  return missingInFile(target).catch((error: unknown) => {
    throw new Error(`${target} is not a readable SQLite store: ${errorText(error)}.`);
  });
}

/** The command that applies them. */
export const howToMigrate = (target: string, schema: string | undefined): string =>
  `Run: parley migrate ${isPostgres(target) ? '"$DATABASE_URL"' : target}${schema === undefined ? "" : ` --schema ${schema}`}`;

/** The SQL that a SQLite file lacks. For a file that does not exist yet, this is the whole schema. */
export async function sqlFor(file: string): Promise<string> {
  if (statSync(file, { throwIfNoEntry: false })?.isFile() !== true) return sqliteSql();
  const database = (await loadDriver())(file);
  try {
    return missingSql(database);
  } finally {
    database.close();
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
  const database = new PostgresDatabase(url, {}, false);
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

/** The number of known migrations, counted in the SQL that `parley migrate --print` prints. */
const known = (sql: string, each: RegExp): number => sql.match(each)?.length ?? 0;
