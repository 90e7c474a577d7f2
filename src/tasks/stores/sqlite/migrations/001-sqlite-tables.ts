// Migration 1 of SQLite: all tables of version 0.1.0.

import type { Migration } from "../../migration-policy.ts";

/** The tables that version 0.1.0 made. */
export const sqliteTables: Migration<string> = {
  number: 1,
  isBreaking: false,
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
      -- A parked task without a timer is in neither of these two, so workers never pass it.
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
};
