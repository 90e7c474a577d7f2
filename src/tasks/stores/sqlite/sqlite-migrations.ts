// The tables, as numbered steps that are only ever added to. Replicas of two versions run side by side during a
// deployment, so each step says how old a version may be that still works on its tables.

import { ParleyError } from "../../../errors.ts";
import type { Database } from "./driver.ts";

export interface Migration {
  /** The oldest step a version may end with and still work after this one. */
  readonly compatible: number;
  readonly sql: string;
}

/** Number 1 first. What has been released is never changed. */
const migrations: readonly Migration[] = [
  {
    compatible: 1,
    sql: `
      create table tasks (
        id text not null primary key,
        call_id text not null unique,
        tool text not null,
        principal text not null,
        status text not null,
        revision integer not null,
        epoch integer not null,
        worker text,
        due_at integer,
        waits text not null,
        inbox text not null,
        asked text not null,
        log_length integer not null,
        log_bytes integer not null,
        fruitless integer not null,
        cause text,
        status_message text,
        rest text,
        created_at integer not null,
        updated_at integer not null,
        expires_at integer not null,
        input text not null,
        result text
      ) strict;
      -- A parked task without a timer is in neither of these two: workers never pass it by.
      create index tasks_due on tasks (tool, due_at, id) where due_at is not null;
      create index tasks_held on tasks (worker, due_at) where worker is not null;
      create index tasks_live on tasks (principal, status)
        where status in ('working', 'input_required');
      create index tasks_expiring on tasks (expires_at);
      create index tasks_listed on tasks (principal, created_at, id) where rest is null;
      create index tasks_listed_for_all on tasks (created_at, id) where rest is null;

      create table task_log (
        task_id text not null references tasks (id) on delete cascade,
        seq integer not null,
        record text not null,
        primary key (task_id, seq)
      ) strict, without rowid;

      create table workers (
        worker text not null primary key,
        seen_at integer not null
      ) strict;

      create table spills (
        id text not null primary key,
        state text not null,
        expires_at integer not null
      ) strict;
      create index spills_expiring on spills (expires_at);

      create table rounds (
        call_id text not null primary key,
        round integer not null,
        answers text not null,
        epoch integer not null,
        lease_until integer not null,
        log_length integer not null,
        response text,
        expires_at integer not null
      ) strict;
      create index rounds_expiring on rounds (expires_at);

      create table round_log (
        call_id text not null references rounds (call_id) on delete cascade,
        seq integer not null,
        record text not null,
        primary key (call_id, seq)
      ) strict, without rowid;
    `,
  },
];

/** For those who want to see it first. Safe to run only on an empty database. */
export function migrationSql(): string {
  return migrations.map(({ sql }, index) => `-- step ${index + 1}\n${sql}`).join("\n");
}

/** Under the write lock: of several processes that start at once, one does it and the others find it done. */
export function migrate(database: Database, steps: readonly Migration[] = migrations): void {
  // Only looking needs no lock, and most starts find nothing to do.
  if (isUpToDate(database, steps.length)) return;
  database.exec("begin immediate");
  try {
    if (!isUpToDate(database, steps.length)) bringUpToDate(database, steps);
    database.exec("commit");
  } catch (error) {
    database.exec("rollback");
    throw error;
  }
}

function bringUpToDate(database: Database, steps: readonly Migration[]): void {
  database.exec(`create table if not exists parley_schema (
    step integer primary key, compatible integer not null) strict`);
  const done = versionOf(database)?.step ?? 0;
  const insert = database.prepare("insert into parley_schema (step, compatible) values (?, ?)");
  for (const [index, { compatible, sql }] of steps.entries()) {
    if (index < done) continue;
    database.exec(sql);
    insert.run(index + 1, compatible);
  }
}

function isUpToDate(database: Database, known: number): boolean {
  const version = versionOf(database);
  if (version === undefined || version.step < known) return false;
  if (version.step === known || version.compatible <= known) return true;
  throw new ParleyError(
    "no_store",
    `The SQLite database is from a newer version of mcp-parley (its schema is at ${version.step}, readable ` +
      `from ${version.compatible} on; this version knows ${known}). Update mcp-parley, or use another file.`,
  );
}

/** `compatible` is the strictest of all that was done to it. */
function versionOf(database: Database): { step: number; compatible: number } | undefined {
  const tables = database.prepare("select 1 from sqlite_master where name = 'parley_schema'").all();
  if (tables.length === 0) return undefined;
  const [row] = database
    .prepare("select max(step) as step, max(compatible) as compatible from parley_schema")
    .all();
  return { step: Number(row?.["step"]), compatible: Number(row?.["compatible"]) };
}
