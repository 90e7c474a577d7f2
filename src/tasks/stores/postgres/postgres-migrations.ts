// Brings the tables in Postgres up to date. migration-policy.ts decides which versions may use which tables.

import { pendingMigrations, refusalText, requiredBy } from "../migration-policy.ts";
import type { AppliedMigration, Migration } from "../migration-policy.ts";
import { postgresTables } from "./migrations/001-postgres-tables.ts";
import { postgresShares } from "./migrations/002-postgres-shares.ts";
import { postgresUndo } from "./migrations/003-postgres-undo.ts";
import { postgresStreams } from "./migrations/004-postgres-streams.ts";
import { postgresMailbox } from "./migrations/005-postgres-mailbox.ts";
import { postgresAccountTable } from "./migrations/006-postgres-accounts.ts";
import { postgresAudit } from "./migrations/007-postgres-audit.ts";
import { postgresHistory } from "./migrations/008-postgres-history.ts";
import { query } from "./pool.ts";
import type { PostgresClient } from "./pool.ts";
import { quoted } from "./schema-name.ts";

type PostgresMigration = Migration<(schema: string) => string>;

const migrations: readonly PostgresMigration[] = [
  postgresTables,
  postgresShares,
  postgresUndo,
  postgresStreams,
  postgresMailbox,
  postgresAccountTable,
  postgresAudit,
  postgresHistory,
];

/** The lock is the same for every schema of this name, in any database, so two stores wait for one another here. */
const lock = (schema: string): string =>
  `select pg_advisory_xact_lock(hashtext('parley migrations'), hashtext('${schema}'));`;

/** Every version reads this table, so its form never changes. */
const noteTable = (schema: string): string => `
create table if not exists ${schema}.migrations (
  number      integer primary key,
  is_breaking boolean not null,
  applied_at  timestamptz not null default now()
);`;

const note = (schema: string, { number, isBreaking }: PostgresMigration): string => `
insert into ${schema}.migrations (number, is_breaking) values (${number}, ${isBreaking})
  on conflict do nothing;`;

/**
 * The SQL of all migrations, for operators who apply it themselves. It is safe to run it again.
 *
 * @param schema - The schema for the tables, such as "parley".
 * @example
 * ```ts
 * import { migrationSql } from "mcp-parley/postgres";
 *
 * console.log(migrationSql("parley"));
 * ```
 */
export function migrationSql(schema: string): string {
  const name = quoted(schema);
  const head = ["begin;", lock(schema), `create schema if not exists ${name};`, noteTable(name)];
  const steps = migrations.flatMap((migration) => [migration.sql(name), note(name, migration)]);
  return [...head, ...steps, "commit;", ""].join("\n");
}

/** Applies what is missing, each migration in a transaction of its own. */
export async function migrate(client: PostgresClient, schema: string): Promise<void> {
  // If everything is up to date, nothing is locked, and no right to change tables is needed.
  if (missing(await applied(client, schema)).length === 0) return;
  await inTransaction(client, async () => {
    await query(client, { text: lock(schema) });
    const name = quoted(schema);
    // "if not exists" needs the right to create a schema even if the schema exists.
    if (!(await hasSchema(client, schema))) await query(client, { text: `create schema ${name};` });
    await query(client, { text: noteTable(name) });
  });
  for (const migration of migrations) {
    await inTransaction(client, async () => {
      await query(client, { text: lock(schema) });
      // Another store may have applied it while this one waited for the lock.
      if (!missing(await applied(client, schema)).includes(migration)) return;
      await query(client, { text: migration.sql(quoted(schema)) });
      await query(client, { text: note(quoted(schema), migration) });
    });
  }
}

async function applied(
  client: PostgresClient,
  schema: string,
): Promise<readonly AppliedMigration[]> {
  const name = quoted(schema);
  const text = `select to_regclass('${name}.migrations') is not null as has`;
  const [{ has } = { has: false }] = await query<{ has: boolean }>(client, { text });
  if (!has) return [];
  const rows = await query<{ readonly number: number; readonly is_breaking: boolean }>(client, {
    text: `select number, is_breaking from ${name}.migrations`,
  });
  return rows.map(({ number, is_breaking: isBreaking }) => ({
    number,
    requires: requiredBy({ number, isBreaking }),
  }));
}

function missing(done: readonly AppliedMigration[]): readonly PostgresMigration[] {
  return pendingMigrations(
    migrations,
    done,
    (refusal) =>
      new Error(`${refusalText("the Postgres schema", refusal)} Update mcp-parley here, too.`),
  );
}

async function hasSchema(client: PostgresClient, schema: string): Promise<boolean> {
  const text = "select from pg_namespace where nspname = $1";
  return (await query(client, { text, values: [schema] })).length > 0;
}

/** Runs several statements as one transaction. */
export async function inTransaction<T>(client: PostgresClient, work: () => Promise<T>): Promise<T> {
  // A process that freezes between two statements must not keep its locks, because others would wait for them.
  await query(client, { text: "begin; set local idle_in_transaction_session_timeout = '15s'" });
  try {
    const done = await work();
    await query(client, { text: "commit" });
    return done;
  } catch (error) {
    await client.query("rollback").catch(() => {});
    throw error;
  }
}
