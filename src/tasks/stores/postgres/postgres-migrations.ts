// The tables, as numbered steps forward. A step only adds: replicas of the version before run on beside it.

import { query } from "./pool.ts";
import type { Client } from "./pool.ts";
import { quoted } from "./schema.ts";

interface Migration {
  readonly number: number;
  /** Code that does not know this step must not run on its tables. It is noted beside the number, for that code. */
  readonly isBreaking: boolean;
  readonly sql: (schema: string) => string;
}

const migrations: readonly Migration[] = [{ number: 1, isBreaking: false, sql: first }];

/** Everything that races is in the row of a task (task.ts); beside it, the log, which only grows. */
function first(schema: string): string {
  return `
create or replace function ${schema}.parley_now() returns bigint
  language sql stable parallel safe
  as $$ select floor(extract(epoch from statement_timestamp()) * 1000)::bigint $$;

create table if not exists ${schema}.tasks (
  id             text collate "C" primary key,
  call_id        text collate "C" not null unique,
  tool           text collate "C" not null,
  principal      text collate "C" not null,
  status         text collate "C" not null,
  revision       integer not null,
  epoch          integer not null,
  worker         text collate "C",
  due_at         bigint,
  waits          jsonb not null,
  inbox          jsonb not null,
  asked          jsonb not null,
  log_length     integer not null,
  log_bytes      bigint not null,
  fruitless      integer not null,
  cause          text,
  input          text not null,
  status_message text,
  result         text,
  rest           text collate "C",
  created_at     bigint not null,
  updated_at     bigint not null,
  expires_at     bigint not null
) with (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.02);

-- Sealed text does not compress.
alter table ${schema}.tasks
  alter column input set storage external,
  alter column result set storage external;

-- What can be claimed, in due order. The tool is here to be looked at without reading the row.
create index if not exists tasks_due on ${schema}.tasks (due_at, id, tool)
  where due_at is not null;
-- How many live ones a principal has.
create index if not exists tasks_live on ${schema}.tasks (principal)
  where status in ('working', 'input_required');
create index if not exists tasks_own on ${schema}.tasks (principal, created_at, id)
  where rest is null;
create index if not exists tasks_all on ${schema}.tasks (created_at, id)
  where rest is null;
create index if not exists tasks_expiry on ${schema}.tasks (expires_at);

create table if not exists ${schema}.log (
  task_id text collate "C" not null references ${schema}.tasks (id) on delete cascade,
  seq     integer not null,
  record  text not null,
  primary key (task_id, seq)
);
alter table ${schema}.log alter column record set storage external;

create table if not exists ${schema}.rounds (
  call_id     text collate "C" primary key,
  round       integer not null,
  answers     text not null,
  epoch       integer not null,
  lease_until bigint not null,
  log         text[] not null,
  response    text,
  expires_at  bigint not null
);
create index if not exists rounds_expiry on ${schema}.rounds (expires_at);

create table if not exists ${schema}.spills (
  id         text collate "C" primary key,
  state      text not null,
  expires_at bigint not null
);
create index if not exists spills_expiry on ${schema}.spills (expires_at);

create table if not exists ${schema}.workers (
  id      text collate "C" primary key,
  seen_at bigint not null
);`;
}

/** The same for every schema of a name, whatever the database; two handles wait for one another here. */
const lock = (schema: string): string =>
  `select pg_advisory_xact_lock(hashtext('parley migrations'), hashtext('${schema}'));`;

const noteTable = (schema: string): string => `
create table if not exists ${schema}.migrations (
  number      integer primary key,
  is_breaking boolean not null,
  applied_at  timestamptz not null default now()
);`;

const note = (schema: string, { number, isBreaking }: Migration): string => `
insert into ${schema}.migrations (number, is_breaking) values (${number}, ${isBreaking})
  on conflict do nothing;`;

/** For those who bring their tables up to date themselves: all of it, to be run once or again. */
export function migrationSql(schema: string): string {
  const name = quoted(schema);
  const head = ["begin;", lock(schema), `create schema if not exists ${name};`, noteTable(name)];
  const steps = migrations.flatMap((migration) => [migration.sql(name), note(name, migration)]);
  return [...head, ...steps, "commit;", ""].join("\n");
}

export async function migrate(client: Client, schema: string): Promise<void> {
  // Where all is up to date nothing is locked and no right to change tables is needed.
  if (missing(await applied(client, schema)).length === 0) return;
  await inTransaction(client, async () => {
    await query(client, { text: lock(schema) });
    const name = quoted(schema);
    // "if not exists" asks for the right to make one even where it is there.
    if (!(await hasSchema(client, schema))) await query(client, { text: `create schema ${name};` });
    await query(client, { text: noteTable(name) });
  });
  for (const migration of migrations) {
    await inTransaction(client, async () => {
      await query(client, { text: lock(schema) });
      // Another handle may have been here while we waited for the lock.
      if (!missing(await applied(client, schema)).includes(migration)) return;
      await query(client, { text: migration.sql(quoted(schema)) });
      await query(client, { text: note(quoted(schema), migration) });
    });
  }
}

interface Applied {
  readonly number: number;
  readonly is_breaking: boolean;
}

async function applied(client: Client, schema: string): Promise<readonly Applied[]> {
  const name = quoted(schema);
  const text = `select to_regclass('${name}.migrations') is not null as has`;
  const [{ has } = { has: false }] = await query<{ has: boolean }>(client, { text });
  if (!has) return [];
  const notes = `select number, is_breaking from ${name}.migrations`;
  return query<Applied>(client, { text: notes });
}

/** Those that are to be done. Tables newer than this code will do, unless they say otherwise. */
function missing(done: readonly Applied[]): readonly Migration[] {
  const known = Math.max(...migrations.map(({ number }) => number));
  const breaking = done.find(({ number, is_breaking }) => is_breaking && number > known);
  if (breaking !== undefined) {
    throw new Error(
      `The tables in Postgres were changed by a newer version of mcp-parley (migration ${breaking.number}) in a way that this one cannot work with. Update mcp-parley here, too.`,
    );
  }
  return migrations.filter(({ number }) => !done.some((each) => each.number === number));
}

async function hasSchema(client: Client, schema: string): Promise<boolean> {
  const text = "select from pg_namespace where nspname = $1";
  return (await query(client, { text, values: [schema] })).length > 0;
}

export async function inTransaction<T>(client: Client, work: () => Promise<T>): Promise<T> {
  // Frozen between two statements, it must not keep its locks: whoever needs them would wait as long.
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
