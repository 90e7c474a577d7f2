// Migration 10 of SQLite: what a task waits for people to do is in its row if it is one thing, as it is for most tasks, because
// two rows of another table cost more than the rest of the write. Only a task that waits for several things has rows in
// `task_waits`. This version writes one wait with the row that it writes anyway. A trigger does the rest, also for processes
// of earlier versions, so that the inbox is complete.

import type { Migration } from "../../migration-policy.ts";

const first = (waits: string, member: string): string => `json_extract(${waits}, '$[0].${member}')`;
const group = (of: string): string => `coalesce(${of}, '')`;
const several = "json_array_length(new.waits) > 1";

/** Whether the only wait is the one that the row had before. */
const isTheSame = [
  ...["wire", "key", "kind"].map(
    (one) => `${first("new.waits", one)} = ${first("old.waits", one)}`,
  ),
  `${group(first("new.waits", "group"))} = old.wait_group`,
].join(" and ");

/** The columns of a single wait, and the trigger that keeps them and `task_waits`. */
export const sqliteOneWait: Migration<string> = {
  number: 10,
  isBreaking: false,
  sql: `
      alter table tasks add column wait_group text;
      alter table tasks add column wait_since integer;
      create index tasks_waiting on tasks (tool, wait_group, wait_since, id)
        where wait_since is not null;

      update tasks set (wait_group, wait_since) =
          (select group_name, since from task_waits where task_id = tasks.id)
        where id in (select task_id from task_waits) and json_array_length(waits) = 1;
      delete from task_waits where task_id in (select id from tasks where wait_since is not null);

      drop trigger task_waits_end;
      drop trigger task_waits_change;
      create trigger task_waits_change after update of waits on tasks
        when new.waits <> old.waits and new.wait_since is old.wait_since
          and not (new.wait_since is null and old.waits = '[]' and json_array_length(new.waits) = 1
            and ${first("new.waits", "kind")} = 'timer')
        begin
        insert or ignore into task_waits (task_id, wire, key, kind, group_name, tool, since)
          select old.id, ${first("old.waits", "wire")}, ${first("old.waits", "key")},
            ${first("old.waits", "kind")}, old.wait_group, old.tool, old.wait_since
          where old.wait_since is not null and ${several};
        delete from task_waits where task_id = new.id and not exists (
          select 1 from json_each(new.waits) where json_extract(value, '$.wire') = task_waits.wire
            and json_extract(value, '$.key') = task_waits.key
            and json_extract(value, '$.kind') = task_waits.kind
            and ${group("json_extract(value, '$.group')")} = task_waits.group_name);
        insert or ignore into task_waits (task_id, wire, key, kind, group_name, tool, since)
          select new.id, json_extract(value, '$.wire'), json_extract(value, '$.key'),
            json_extract(value, '$.kind'), ${group("json_extract(value, '$.group')")}, new.tool, new.updated_at
          from json_each(new.waits)
          where json_extract(value, '$.kind') <> 'timer' and ${several};
        update tasks set (wait_group, wait_since) = (
            select ${group(first("new.waits", "group"))}, coalesce(
              (select since from task_waits where task_id = new.id),
              case when ${isTheSame} then old.wait_since end,
              new.updated_at)
            where json_array_length(new.waits) = 1 and ${first("new.waits", "kind")} <> 'timer')
          where id = new.id;
        delete from task_waits where task_id = new.id and not ${several};
        end;
    `,
};
