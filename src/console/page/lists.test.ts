// The two lists that change while a person reads them: nothing may be lost, doubled or moved.

import { expect, test } from "vitest";
import type { AuditFacts, InboxItem, TaskRow } from "../wire.ts";
import { duration, grouped, relative, size } from "./format.ts";
import { lateText, sectionsOf, settledBy, shownAfter, standing, toldBy } from "./inbox-list.ts";
import type { ShownItem } from "./inbox-list.ts";
import { stuckText } from "./stuck-text.ts";
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
    ["a", "It does not wait any more."],
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
  const settled = [settledBy(one!, { stage: "told", outcome: "Approved." })];
  expect(shownAfter(settled, [item("a", 1)], true)[0]?.outcome).toBe("Approved.");
  expect(shownAfter(settled, [item("a", 9)], true)[0]?.outcome).toBeUndefined();
  const reworded = { ...item("a", 1), digest: "other" };
  expect(shownAfter(settled, [reworded], true)[0]?.outcome).toBeUndefined();
});

const record = (action: string, who: string, at: number, of: object = {}): AuditFacts => ({
  id: `${action}-${at}`,
  at,
  action,
  key: "a",
  ...(who !== "" && { who }),
  ...of,
});
const saysOf = (one: ShownItem | undefined) =>
  one && [standing(one, 0), one.item.decisions.map(({ who }) => who).join(), one.outcome];

test("the card of someone who has approved follows what the others decide", () => {
  const asked = { ...item("a", 1), message: "Deploy?", needed: 2, dueAt: 3_600_000 };
  const bob = { who: "bob", isApproved: true, at: 2, via: "console" };
  const [one] = shownAfter([], [asked], true);
  const outcome = "Your decision counts. It waits for others.";
  const counted = settledBy(one!, { stage: "decided", outcome, decisions: [bob] });
  expect(saysOf(counted)).toEqual(["1 of 2 have approved · 1 h left", "bob", outcome]);
  // The list that was read may be older than the decision, and the question is not sent to those who have decided.
  const { message: _, ...untold } = asked;
  for (const decisions of [[], [bob]]) {
    const [still] = shownAfter([counted], [{ ...untold, decisions }], true);
    expect(saysOf(still)).toEqual(saysOf(counted));
    expect(still?.item.message).toBe("Deploy?");
  }
  const third = { ...item("a", 1), needed: 3, decisions: [bob, { ...bob, who: "eve", at: 3 }] };
  expect(saysOf(shownAfter([counted], [third], true)[0])?.[1]).toBe("bob,eve");

  const [gone] = shownAfter([counted], [], true);
  expect(gone?.outcome).not.toContain("waits for others");
  const records = [
    record("asked", "", 1),
    record("approved", "bob", 2),
    record("approved", "dan", 3),
  ];
  expect(saysOf(toldBy(gone!, records))).toEqual(["2 of 2 have approved", "bob,dan", "Approved."]);
  const declined = [...records.slice(0, 2), record("rejected", "dan", 3, { note: "Not today." })];
  const [after] = shownAfter([toldBy(gone!, declined)], [], true);
  expect(saysOf(after)).toEqual(["1 of 2 have approved", "bob,dan", "Declined."]);
  expect(after?.item.decisions[1]?.note).toBe("Not today.");
});

test("how an item has ended is told as far as the audit record knows it", () => {
  const [approval] = shownAfter([], [{ ...item("a", 1), needed: 2 }], true);
  const [question] = shownAfter([], [{ ...item("a", 1), kind: "question" }], true);
  const told = (one: ShownItem | undefined, ...records: AuditFacts[]) =>
    one && toldBy({ ...one, stage: "gone", outcome: "?" }, records).outcome;
  const approved = record("approved", "bob", 2);
  expect(told(approval, approved)).toBe("?");
  expect(told(approval, approved, record("timed_out", "", 3))).toBe("Nobody answered in time.");
  const cancelled = record("call_cancelled", "ada", 3, { key: undefined });
  expect(told(approval, approved, cancelled)).toBe("The task was cancelled by ada.");
  expect(told(question, record("answered", "ada", 2))).toBe("Answered by ada.");
  // What was answered when it was asked before is another answer.
  expect(told(question, record("answered", "ada", 2), record("asked", "", 3))).toBe("?");
  expect(told(question, record("answered", "ada", 2, { key: "b" }))).toBe("?");
});

test("who came too late is told so, and who was first", () => {
  const [approval] = shownAfter([], [{ ...item("a", 1), needed: 2 }], true);
  const told = (late: "approval" | "decline" | "answer", ...records: AuditFacts[]) => {
    const settled = settledBy(approval!, { stage: "gone", outcome: lateText(late), late });
    const [gone] = shownAfter([settled], [], true);
    const after = toldBy(gone!, records);
    expect(after.isGood).toBe(false);
    return after.outcome;
  };
  const [ada, bo] = [record("approved", "ada", 2), record("approved", "bo", 3)];
  const declined = record("rejected", "dan", 3);
  const late = "Your approval came too late and does not count.";
  expect(told("approval", ada, declined)).toBe(`${late} dan declined first.`);
  expect(told("approval", ada, bo)).toBe(`${late} ada and bo approved first.`);
  expect(told("approval", ada, record("timed_out", "", 3))).toBe(`${late} Its time was up.`);
  const cancelled = record("call_cancelled", "ada", 3, { key: undefined });
  expect(told("decline", cancelled)).toBe(
    "Your decline came too late and does not count. The task was cancelled by ada.",
  );
  // Until the audit record is read, and without one.
  expect(told("answer")).toBe("Your answer came too late and does not count.");
});

test("only what was approved or answered has a green tick", () => {
  const [one] = shownAfter([], [item("a", 1)], true);
  const isGood = (action: string) => toldBy(one!, [record(action, "ada", 2)]).isGood;
  expect([isGood("approved"), isGood("rejected")]).toEqual([true, false]);
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
  const at = (now: number) => standing({ item: half, stage: "waits" }, now);
  expect(at(0)).toBe("1 of 2 have approved · 2 h left");
  expect(at(9_000_000)).toBe("1 of 2 have approved · its time is up");
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
  // Rounded to minutes, one and two would look the same.
  expect(relative(0, 119_000)).toBe("1 min 59 s ago");
  expect(relative(0, 650_000)).toBe("10 min ago");
  expect(relative(7_200_000, 0)).toBe("in 2 h");
  expect(relative(0, 200)).toBe("just now");
  expect([312, 4200, 1_300_000].map(size)).toEqual(["312 B", "4.2 kB", "1.3 MB"]);
  expect(grouped(100_000)).toBe("100\u{202F}000");
});

test("the line at the top counts what is stuck, and names the tools", () => {
  const stuck = (...tools: [tool: string, why: string][]) =>
    stuckText(
      tools.map(([tool, why], at) => ({ ...task(`t${at}`, at), tool, why })),
      5,
    );
  expect(stuck()).toBeUndefined();
  expect(stuck(["a", "x"])).toEqual({ what: "One task of a is stuck", why: "x" });
  expect(stuck(["a", "x"], ["a", "x"])).toEqual({ what: "2 tasks of a are stuck", why: "x" });
  expect(stuck(["a", "x"], ["a", "y"])?.why).toBe("One of them: x");
  expect(stuck(["a", "x"], ["b", "y"])).toEqual({
    what: "2 tasks are stuck",
    why: "They are of a and b. One of a: x",
  });
  const most = stuck(["a", "x"], ["b", ""], ["c", ""], ["d", ""], ["d", ""]);
  expect(most).toEqual({
    what: "5 or more tasks are stuck",
    why: "They are of a, b and 2 other tools. One of a: x",
  });
});
