// The two lists that change while a person reads them: nothing may be lost, doubled or moved.

import { expect, test } from "vitest";
import type { InboxItem, TaskRow } from "../wire.ts";
import { duration, grouped, relative, size } from "./format.ts";
import { sectionsOf, shownAfter, standing } from "./inbox-list.ts";
import { pagesAt, renewed } from "./task-pages.ts";
import type { TaskPage } from "./task-pages.ts";

const task = (id: string, createdAt: number, status: TaskRow["status"] = "working"): TaskRow => ({
  id,
  tool: "t",
  status,
  createdAt,
  updatedAt: createdAt,
  waits: [],
  epoch: 1,
  fruitless: 0,
});
const page = (rows: TaskRow[], next?: string): TaskPage => ({ after: undefined, rows, next });
const ids = ({ rows }: TaskPage) => rows.map(({ id }) => id);

test("a page that is read again gets its news, and still ends where the next page begins", () => {
  const known = page([task("c", 3), task("b", 2), task("a", 1)], "after-a");
  const read = page([task("e", 5), task("d", 4), task("c", 3, "failed")], "after-c");
  const now = renewed(known, read);
  expect(ids(now)).toEqual(["e", "d", "c", "b", "a"]);
  expect(now.rows[2]?.status).toBe("failed");
  expect(now.next).toBe("after-a");
});

test("a task that does not match the filter any more leaves its page", () => {
  const known = page([task("c", 3), task("b", 2), task("a", 1)]);
  expect(ids(renewed(known, page([task("c", 3), task("a", 1)])))).toEqual(["c", "a"]);
});

test("an older page does not take tasks in at its end", () => {
  const known = page([task("c", 3), task("b", 2)], "after-b");
  const read = page([task("c", 3), task("a", 1)], "after-a");
  expect(ids(renewed(known, read))).toEqual(["c"]);
});

test("only pages that can be seen are read again", () => {
  const pages = [page([task("c", 3), task("b", 2)]), page([task("a", 1)]), page([task("z", 0)])];
  expect(pagesAt(pages, 0, 1)).toEqual([0]);
  expect(pagesAt(pages, 1, 2)).toEqual([0, 1]);
  expect(pagesAt(pages, 3, 9)).toEqual([2]);
});

const item = (key: string, since: number, group?: string): InboxItem => ({
  task: "t",
  callId: "c",
  key,
  kind: "approval",
  tool: "pay",
  ...(group === undefined ? undefined : { group }),
  since,
  decisions: [],
  mayAnswer: true,
});

test("what another operator answered stays in its place and says so", () => {
  const before = shownAfter([], [item("a", 1), item("b", 2)], true);
  const after = shownAfter(before, [item("b", 2), item("c", 3)], true);
  expect(after.map(({ item: { key }, outcome }) => [key, outcome])).toEqual([
    ["a", "Someone else has answered, or the task has ended."],
    ["b", undefined],
    ["c", undefined],
  ]);
});

test("an item that is missing may still wait if the list is cut off before it", () => {
  const before = shownAfter([], [item("a", 1), item("b", 2)], true);
  expect(shownAfter(before, [item("a", 1)], false)[1]?.outcome).toBeUndefined();
});

test("a question that is asked again waits again", () => {
  const [one] = shownAfter([], [item("a", 1)], true);
  const settled = [{ ...one!, outcome: "Approved." }];
  expect(shownAfter(settled, [item("a", 1)], true)[0]?.outcome).toBe("Approved.");
  expect(shownAfter(settled, [item("a", 9)], true)[0]?.outcome).toBeUndefined();
});

test("the inbox is divided by age, group and tool", () => {
  const items = [item("a", 1, "ops"), item("b", 2, "sales"), item("c", 3, "ops")];
  const shown = shownAfter([], items, true);
  const titles = (by: "age" | "group" | "tool") =>
    sectionsOf(shown, by).map((section) => `${section.title}: ${section.items.length}`);
  expect(titles("age")).toEqual(["The oldest first: 3"]);
  expect(titles("group")).toEqual(["ops: 2", "sales: 1"]);
  expect(titles("tool")).toEqual(["pay: 3"]);
});

test("an approval says how many have agreed and how long is left", () => {
  const decisions = [{ who: "ada", isApproved: true, at: 1, via: "page" }];
  const half = { ...item("a", 0), decisions, needed: 2, dueAt: 7_200_000 };
  expect(standing(half, 0)).toBe("1 of 2 have approved · 2 h left");
  expect(standing(half, 9_000_000)).toBe("1 of 2 have approved · its time is up");
});

test("times, durations and sizes read well", () => {
  expect([0, 850, 4200, 59_000, 190_000, 7_500_000, 273_600_000].map(duration)).toEqual([
    "0 ms",
    "850 ms",
    "4.2 s",
    "59 s",
    "3 min 10 s",
    "2 h 5 min",
    "3 d 4 h",
  ]);
  expect(relative(0, 180_000)).toBe("3 min ago");
  expect(relative(7_200_000, 0)).toBe("in 2 h");
  expect(relative(0, 200)).toBe("just now");
  expect([312, 4200, 1_300_000].map(size)).toEqual(["312 B", "4.2 kB", "1.3 MB"]);
  expect(grouped(100_000)).toBe("100\u{202F}000");
});
