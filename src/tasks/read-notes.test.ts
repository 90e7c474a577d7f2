import { expect, test } from "vitest";
import { ReadNotes } from "./read-notes.ts";
import type { TaskRecord } from "./task.ts";

function notes() {
  const written: (readonly string[])[] = [];
  const over: (() => void)[] = [];
  let now = 1_000;
  const store = {
    noteRead: (ids: readonly string[]) => {
      written.push(ids);
      return new Promise<void>((resolve) => void over.push(resolve));
    },
  };
  return {
    notes: new ReadNotes(store, () => now),
    written,
    pass: (ms: number) => void (now += ms),
    allOver: async () => {
      for (const done of over.splice(0)) done();
      await new Promise(setImmediate);
    },
  };
}

const task = (id: string, more: Partial<TaskRecord> = {}) =>
  ({ id, isUnread: true, status: "working", ...more }) as TaskRecord;

test("the first note is written at once, and those that follow share a statement", () => {
  const { notes: one, written, pass } = notes();
  one.note([task("a")]);
  expect(written).toEqual([["a"]]);
  one.note([task("b")]);
  one.note([task("c")]);
  one.note([task("b")]);
  expect(written).toEqual([["a"]]);
  // No timer is needed for it: it may never fire on a host that freezes.
  pass(100);
  one.note([task("d")]);
  expect(written).toEqual([["a"], ["b", "c", "d"]]);
});

test("a note that is under way is not made again, and one that was lost is", async () => {
  const { notes: one, written, pass, allOver } = notes();
  one.note([task("a")]);
  pass(1_000);
  one.note([task("a")]);
  expect(written).toEqual([["a"]]);
  await allOver();
  one.note([task("a")]);
  expect(written).toEqual([["a"], ["a"]]);
});

test("a task that ended or was noted elsewhere needs no note", () => {
  const { notes: one, written } = notes();
  one.note([task("a", { isUnread: false }), task("b", { status: "completed" })]);
  expect(written).toEqual([]);
  one.note([task("c")]);
  one.note([task("d"), task("e")]);
  one.note([task("d", { status: "completed" }), task("e", { isUnread: false })]);
  one.write();
  expect(written).toEqual([["c"]]);
});

test("what is gathered can be written before its time", () => {
  const { notes: one, written } = notes();
  one.note([task("a")]);
  one.note([task("b")]);
  one.write();
  one.write();
  expect(written).toEqual([["a"], ["b"]]);
});
