// A hundred thousand parked tasks cost nothing: frequent statements use an index that skips all of them.

import { expect, onTestFinished, test } from "vitest";
import { loadDriver } from "./driver.ts";
import { newPath } from "./folder.fixture.ts";
import { migrate } from "./sqlite-migrations.ts";
import { historyStatements } from "./history-table.ts";
import { taskStatements } from "./task-table.ts";

const open = await loadDriver();

/** How SQLite finds the rows. The rest of its wording differs between versions of SQLite. */
const plans: Record<string, string | readonly string[]> = {
  byId: "SEARCH tasks USING INDEX sqlite_autoindex_tasks_1 (id=?",
  byCall: "SEARCH tasks USING INDEX sqlite_autoindex_tasks_2 (call_id=?",
  countLive: "SEARCH tasks USING COVERING INDEX tasks_live (principal=?",
  due: "SEARCH tasks USING INDEX tasks_due (tool=? AND due_at<?",
  nextDue: "SEARCH tasks USING INDEX tasks_due (tool=?",
  expired: "SEARCH tasks USING INDEX tasks_expiring (expires_at<?",
  abandoned: "SEARCH tasks USING INDEX tasks_unread (created_at<?",
  ended: "SEARCH tasks USING INDEX tasks_listed (principal=?",
  usage: "SEARCH tasks USING INDEX tasks_listed (principal=?",
  forget: "SEARCH tasks USING INDEX tasks_expiring (expires_at<?",
  list: "SEARCH tasks USING INDEX tasks_listed (principal=?",
  listAll: "SEARCH tasks USING INDEX tasks_listed_for_all (",
  findAll: "SEARCH tasks USING INDEX tasks_listed_for_all (",
  findOwn: "SEARCH tasks USING INDEX tasks_listed (principal=?",
  findKind: [
    "SEARCH tasks USING INDEX tasks_unheld (tool=? AND status=? AND (created_at,id)<",
    "SEARCH tasks USING INDEX tasks_held (worker>?",
  ],
  nextTool: [
    "SEARCH tasks USING INDEX tasks_unheld (tool>?",
    "SEARCH tasks USING INDEX tasks_held (worker>?",
  ],
  nextDueTool: "SEARCH tasks USING COVERING INDEX tasks_due (tool>?",
  overdue: "SEARCH tasks USING INDEX tasks_due (tool=? AND due_at<?",
  nextOneWaitKind: "SEARCH tasks USING COVERING INDEX tasks_waiting (",
  nextWaitKind: "SEARCH task_waits USING COVERING INDEX task_waits_found (",
  waiting: [
    "SEARCH tasks USING INDEX tasks_waiting (tool=? AND wait_group=? AND (wait_since,id)>",
    "SEARCH task_waits USING INDEX task_waits_found (tool=? AND group_name=?",
  ],
  log: "SEARCH task_log USING PRIMARY KEY (task_id=?",
};

function planOf(name: string): readonly string[] {
  const database = open(newPath());
  onTestFinished(() => database.close());
  migrate(database);
  const sql = Object.entries({ ...taskStatements, ...historyStatements }).find(
    ([key]) => key === name,
  )?.[1];
  const rows = database.prepare(`explain query plan ${sql}`).all();
  return rows.map(({ detail }) => String(detail));
}

test.each(Object.entries(plans))("%s", (name, wanted) => {
  const plan = planOf(name);
  for (const one of [wanted].flat()) {
    expect(plan.filter((detail) => detail.startsWith(one))).toHaveLength(1);
  }
  expect(plan.filter((detail) => /SCAN tasks|TEMP B-TREE/.test(detail))).toEqual([]);
});

/** Whether a statement reads anything of a task beyond an index. SQLite calls an index covering only if it has every column, also those of its own condition. */
function readsRows(name: keyof typeof taskStatements): boolean {
  const database = open(newPath());
  onTestFinished(() => database.close());
  migrate(database);
  const [table] = database
    .prepare("select rootpage from sqlite_master where type = 'table' and name = 'tasks'")
    .all();
  const code = database.prepare(`explain ${taskStatements[name]}`).all();
  const cursors = code.flatMap(({ opcode, p1, p2 }) =>
    opcode === "OpenRead" && p2 === table?.["rootpage"] ? [p1] : [],
  );
  return code.some(({ opcode, p1 }) => opcode === "Column" && cursors.includes(p1));
}

test("counting the ended tasks of a caller reads two indexes, and no row", () => {
  const plan = planOf("countEnded").filter((detail) => / tasks /.test(detail));
  expect(plan).toHaveLength(2);
  expect(plan[0]).toMatch(/SEARCH tasks USING (COVERING )?INDEX tasks_listed \(principal=\?/);
  expect(plan[1]).toContain("SEARCH tasks USING COVERING INDEX tasks_live (principal=?");
  expect(readsRows("countEnded")).toBe(false);
  expect(readsRows("usage")).toBe(true);
});

test("revisions look up each task, and figures read only indexes", () => {
  expect(planOf("revisions").join("\n")).toContain("SEARCH tasks USING INDEX");
  const figures = planOf("figures").filter((detail) => / tasks /.test(detail));
  expect(figures).toHaveLength(5);
  for (const detail of figures)
    expect(detail).toMatch(/COVERING INDEX tasks_(live|due|held|undos)/);
});
