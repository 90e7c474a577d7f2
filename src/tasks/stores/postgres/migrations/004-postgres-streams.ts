// Migration 4 of Postgres: the parts of running streams. Earlier versions neither write nor delete them, so a trigger deletes
// them when their claim ends, as stored-parts.ts says. The trigger sees parts that were added while its statement waited
// for the row, which the statement itself does not.

import type { Migration } from "../../migration-policy.ts";

/** The table behind streaming in tasks. */
export const postgresStreams: Migration<(schema: string) => string> = {
  number: 4,
  isBreaking: false,
  sql: (schema) => `
create table if not exists ${schema}.task_parts (
  task_id text not null references ${schema}.tasks (id) on delete cascade,
  epoch   integer not null,
  key     text not null,
  n       integer not null,
  record  text not null,
  primary key (task_id, epoch, n)
);
create or replace function ${schema}.parley_end_parts() returns trigger language plpgsql as $$
begin
  delete from ${schema}.task_parts where task_id = old.id;
  return null;
end $$;
create or replace trigger task_parts_end after update of worker, epoch, status on ${schema}.tasks
  for each row
  when (old.worker is not null and (new.worker is distinct from old.worker
    or new.epoch <> old.epoch or new.status not in ('working', 'input_required')))
  execute function ${schema}.parley_end_parts();`,
};
