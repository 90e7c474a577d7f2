// What shares a statement, and what happens to the others if one of them fails.

import { expect, test, vi } from "vitest";
import { StoreUnavailableError } from "./errors.ts";
import { StatementGroups } from "./statement-groups.ts";
import type { RunGroup } from "./statement-groups.ts";

interface Sent {
  readonly n: number;
  readonly id: string;
  readonly what?: string;
}

/** Groups whose statements return the members that they were given. */
function groupsOf(run?: (members: readonly Sent[]) => Promise<void>) {
  const sent: (readonly string[])[] = [];
  const statement: RunGroup<"read" | "park"> = async (_, json) => {
    const members: readonly Sent[] = JSON.parse(json);
    sent.push(members.map(({ id }) => id));
    await run?.(members);
    return members;
  };
  return { sent, groups: new StatementGroups(statement) };
}

test("operations of one turn share a statement, in the order of their tasks, and each gets its own rows", async () => {
  const { sent, groups } = groupsOf();
  const all = await Promise.all(["c", "a", "b"].map((id) => groups.run("read", { id })));
  expect(sent).toEqual([["a", "b", "c"]]);
  expect(all.map((rows) => rows.map((row) => Reflect.get(row, "id")))).toEqual([
    ["c"],
    ["a"],
    ["b"],
  ]);
});

test("operations of different kinds do not", async () => {
  const { sent, groups } = groupsOf();
  await Promise.all([groups.run("read", { id: "a" }), groups.run("park", { id: "b" })]);
  expect(sent).toEqual([["a"], ["b"]]);
});

test("what comes while four statements are under way shares the next one", async () => {
  const ends: (() => void)[] = [];
  const { sent, groups } = groupsOf(() => new Promise((resolve) => void ends.push(resolve)));
  const all: Promise<unknown>[] = [];
  for (const id of ["a", "b", "c", "d"]) {
    all.push(groups.run("park", { id }));
    await vi.waitFor(() => expect(sent.flat()).toContain(id), { interval: 0 });
  }
  all.push(groups.run("park", { id: "e" }));
  await new Promise((resolve) => void setImmediate(resolve));
  all.push(groups.run("park", { id: "f" }));
  for (const end of ends.splice(0)) end();
  await vi.waitFor(() => expect(sent).toHaveLength(5), { interval: 0 });
  for (const end of ends) end();
  await Promise.all(all);
  expect(sent).toEqual([["a"], ["b"], ["c"], ["d"], ["e", "f"]]);
});

test("statements that wait for long do not hold up the next one", async () => {
  const { sent, groups } = groupsOf(([first]) =>
    first?.id === "free" ? Promise.resolve() : new Promise(() => {}),
  );
  const locked = ["a", "b", "c", "d"];
  for (const id of locked) {
    void groups.run("park", { id });
    await vi.waitFor(() => expect(sent.flat()).toContain(id), { interval: 0 });
  }
  await groups.run("park", { id: "free" });
  expect(sent).toEqual([...locked, "free"].map((id) => [id]));
});

test("an operation on a task of a statement under way waits for it, and others do not", async () => {
  const ends: (() => void)[] = [];
  const { sent, groups } = groupsOf(() => new Promise((resolve) => void ends.push(resolve)));
  const first = groups.run("park", { id: "a", what: "first" });
  await vi.waitFor(() => expect(sent).toHaveLength(1), { interval: 0 });
  const others = [groups.run("park", { id: "a", what: "second" }), groups.run("park", { id: "b" })];
  await vi.waitFor(() => expect(sent).toHaveLength(2), { interval: 0 });
  expect(sent).toEqual([["a"], ["b"]]);
  ends[0]?.();
  await first;
  await vi.waitFor(() => expect(sent).toHaveLength(3), { interval: 0 });
  expect(sent[2]).toEqual(["a"]);
  for (const end of ends) end();
  await Promise.all(others);
});

test("two operations on one task are in two statements, in their order", async () => {
  const { sent, groups } = groupsOf();
  const both = [
    groups.run("park", { id: "a", what: "first" }),
    groups.run("park", { id: "a", what: "second" }),
  ];
  const rows = await Promise.all([...both, groups.run("park", { id: "b" })]);
  expect(sent).toEqual([["a", "b"], ["a"]]);
  expect(rows.slice(0, 2).map(([row]) => Reflect.get(row ?? {}, "what"))).toEqual([
    "first",
    "second",
  ]);
});

test("a member that the database refuses fails alone", async () => {
  const refused = new Error("This text cannot be kept.");
  const { sent, groups } = groupsOf(async (members) => {
    if (members.some(({ id }) => id === "bad")) throw refused;
  });
  const all = await Promise.allSettled(["a", "bad", "b"].map((id) => groups.run("park", { id })));
  expect(all.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
  expect(all[1]).toEqual({ status: "rejected", reason: refused });
  expect(sent).toEqual([["a", "b", "bad"], ["a"], ["b"], ["bad"]]);
});

test("if the database cannot be reached, nobody tries again here", async () => {
  // The statement may have been done, and the callers know what that means for them.
  const { sent, groups } = groupsOf(() => Promise.reject(new StoreUnavailableError("gone")));
  const all = await Promise.allSettled(["a", "b"].map((id) => groups.run("park", { id })));
  expect(all.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  expect(sent).toEqual([["a", "b"]]);
});

test("a group has at most 64 members and a quarter of a mebibyte, but any single one", async () => {
  const { sent, groups } = groupsOf();
  const what = "x".repeat(200 * 1024);
  await Promise.all([
    ...Array.from({ length: 65 }, (_, n) => groups.run("read", { id: `small ${n}` })),
    ...["a", "b"].map((id) => groups.run("park", { id, what })),
    groups.run("park", { id: "c", what: what + what }),
  ]);
  expect(sent.map(({ length }) => length).toSorted((one, two) => one - two)).toEqual([
    1, 1, 1, 1, 64,
  ]);
});
