import { AsyncLocalStorage } from "node:async_hooks";
import { setImmediate } from "node:timers/promises";
import { expect, test } from "vitest";
import { backToBack } from "./batch-writes.ts";

const unexpected = () => expect.unreachable();

test("what comes in one turn of the event loop is done together, in its order, once", async () => {
  const done: string[] = [];
  const add = backToBack((word: string) => void done.push(word), unexpected);
  add("one");
  add("two");
  expect(done).toEqual([]);
  await setImmediate();
  expect(done).toEqual(["one", "two"]);
  add("three");
  await setImmediate();
  expect(done).toEqual(["one", "two", "three"]);
});

test("what comes of the work itself is done later", async () => {
  const done: number[] = [];
  const add = backToBack((left: number) => {
    done.push(left);
    if (left > 0) add(left - 1);
  }, unexpected);
  add(2);
  await setImmediate();
  expect(done).toEqual([2]);
  await setImmediate();
  await setImmediate();
  expect(done).toEqual([2, 1, 0]);
});

test("one that fails keeps no other from being done", async () => {
  const done: string[] = [];
  const failed: unknown[] = [];
  const add = backToBack(
    (word: string) => {
      if (word === "two") throw new Error("not two");
      done.push(word);
    },
    (word, error) => void failed.push([word, String(error)]),
  );
  for (const word of ["one", "two", "three"]) add(word);
  await setImmediate();
  expect(done).toEqual(["one", "three"]);
  expect(failed).toEqual([["two", "Error: not two"]]);
});

test("nothing is done in the context of another", async () => {
  const storage = new AsyncLocalStorage<string>();
  const seen: unknown[] = [];
  const add = backToBack(() => void seen.push(storage.getStore()), unexpected);
  storage.run("the first", () => add(undefined));
  storage.run("the second", () => add(undefined));
  await setImmediate();
  expect(seen).toEqual([undefined, undefined]);
});
