// Migration 1 of Postgres: all tables of version 0.1.0. Everything that races is in the row of a task (task.ts). The
// log is a table of its own, which only grows.

import type { Migration } from "../../migration-policy.ts";

/** The tables that version 0.1.0 made, in a schema whose name is quoted. */
export const postgresTables: Migration<(schema: string) => string> = {
  number: 1,
  isBreaking: false,
  sql: (schema) => `
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

-- What can be claimed, in due order. The tool is part of it, so that it can be checked without reading the row.
create index if not exists tasks_due on ${schema}.tasks (due_at, id, tool)
  where due_at is not null;
-- How many live tasks a principal has.
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
);`,
};
