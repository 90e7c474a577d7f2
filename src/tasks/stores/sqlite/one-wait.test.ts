// What a task waits for is found, whichever version of the store has written it: in the columns of its row, or in the table.

import {
  array,
  assert,
  boolean,
  constantFrom,
  property,
  record,
  tuple,
  uniqueArray,
} from "fast-check";
import { expect, onTestFinished, test } from "vitest";
import type { Wait } from "../../task.ts";
import { created } from "../../moves.ts";
import { newTask } from "../../../testing/store/opened.ts";
import type { SqliteDatabase } from "./driver.ts";
import { loadDriver } from "./driver.ts";
import { newPath } from "./folder.fixture.ts";
import { HistoryTable } from "./history-table.ts";
import { migrate, migrationSql } from "./sqlite-migrations.ts";
import { KnownRows } from "./known-rows.ts";
import { TaskTable } from "./task-table.ts";

const open = await loadDriver();

function database(): SqliteDatabase {
  const opened = open(newPath());
  onTestFinished(() => opened.close());
  return opened;
}

const first = created(newTask("a"), 1_000);

/** The update of a version that knows neither the columns nor the table. */
const asBefore = ({ prepare }: SqliteDatabase, waits: readonly Wait[], now: number): void =>
  prepare("update tasks set waits = ?, updated_at = ? where id = ?").run(
    JSON.stringify(waits),
    now,
    first.id,
  );

const listed = (history: HistoryTable) =>
  history
    .waiting({ limit: 100 })
    .map(({ wire, key, kind, group, since }) => ({ wire, key, kind, group, since }));

type Listed = ReturnType<typeof listed>[number];

test("what waited before migration 10 has waited as long after it, and a wait alone is in its row", () => {
  const file = database();
  const [before = ""] = migrationSql().split("-- step 10");
  file.exec(`${before}commit;`);
  const wait = { kind: "external", key: "pay", wire: "pay", group: "finance" };
  const timer = { kind: "timer", key: "t", wire: "t" };
  const lists = [[wait], [wait, { ...wait, key: "go", wire: "go" }], [wait, timer], [timer]];
  const names = ["one", "two", "beside", "timer"];
  for (const [index, waits] of lists.entries()) {
    const { id, callId } = { id: names[index] ?? "", callId: `call-${index}` };
    file
      .prepare(
        `insert into tasks (id, call_id, tool, principal, status, revision, epoch, waits, inbox, asked, log_length,
          log_bytes, fruitless, created_at, updated_at, expires_at, input)
          values (?, ?, 't', '', 'working', 1, 1, '[]', '[]', '{}', 0, 0, 0, 1, 1, 9, '')`,
      )
      .run(id, callId);
    file
      .prepare("update tasks set waits = ?, updated_at = 70 where id = ?")
      .run(JSON.stringify(waits), id);
  }
  file.exec("update tasks set updated_at = 90");
  migrate(file);
  const found = new HistoryTable(file).waiting({ limit: 9 });
  expect(found.map(({ taskId, wire, group, since }) => [taskId, wire, group, since])).toEqual([
    ["beside", "pay", "finance", 70],
    ["one", "pay", "finance", 70],
    ["two", "go", "finance", 70],
    ["two", "pay", "finance", 70],
  ]);
  const inTable = file.prepare("select distinct task_id from task_waits order by task_id").all();
  expect(inTable.map((row) => row["task_id"])).toEqual(["beside", "two"]);
});

const external: Wait = { kind: "external", key: "k", wire: "a" };
const anyWait = tuple(
  constantFrom<Wait>(
    external,
    { ...external, group: "finance" },
    { ...external, kind: "question" },
    { ...external, key: "l" },
    { ...external, wire: "b" },
    { ...external, kind: "timer", wire: "c" },
  ),
  // What may change while the wait stays the same.
  constantFrom(undefined, 9_000),
).map(([wait, dueAt]): Wait => ({ ...wait, dueAt }));

test("any sequence of changes, by this version and by others, lists what waits and since when", () => {
  const change = record({
    waits: uniqueArray(anyWait, { maxLength: 3, selector: ({ wire }) => wire }),
    isOther: boolean(),
  });
  assert(
    property(array(change, { minLength: 1, maxLength: 8 }), (changes) => {
      const file = open(":memory:");
      try {
        migrate(file);
        const rows = new KnownRows();
        const tasks = new TaskTable(file, rows);
        const history = new HistoryTable(file);
        tasks.insert(first);
        let known: readonly Listed[] = [];
        for (const [index, { waits, isOther }] of changes.entries()) {
          const now = 2_000 + index;
          if (isOther) {
            asBefore(file, waits, now);
            rows.clear();
          } else {
            const task = tasks.byId(first.id) ?? first;
            tasks.update({ ...task, waits, updatedAt: now });
          }
          known = expected(known, waits, now);
          expect(listed(history)).toEqual(known);
        }
      } finally {
        file.close();
      }
    }),
  );
});

/** A wait that was there has waited since then. */
function expected(known: readonly Listed[], waits: readonly Wait[], now: number): Listed[] {
  return waits
    .filter(({ kind }) => kind !== "timer")
    .map(({ wire, key, kind, group }) => {
      const before = known.find(
        (one) => one.wire === wire && one.key === key && one.kind === kind && one.group === group,
      );
      return { wire, key, kind, group, since: before?.since ?? now } as Listed;
    })
    .toSorted((a, b) => a.since - b.since || (a.wire < b.wire ? -1 : 1));
}
