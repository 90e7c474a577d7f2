import { AsyncLocalStorage } from "node:async_hooks";
import { setImmediate } from "node:timers/promises";
import { expect, test } from "vitest";
import { backToBack } from "./batch-writes.ts";

const unexpected = () => expect.unreachable();

test("work that arrives in one turn of the event loop is done together, in order, once", async () => {
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

test("work does not wait for more than fifteen others", async () => {
  const done: number[] = [];
  const add = backToBack((number: number) => void done.push(number), unexpected);
  const numbers = Array.from({ length: 40 }, (_, index) => index);
  for (const number of numbers) {
    add(number);
    expect(done).toEqual(numbers.slice(0, Math.floor((number + 1) / 16) * 16));
  }
  await setImmediate();
  expect(done).toEqual(numbers);
});

test("work that other work causes is done later", async () => {
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

test("a failure does not stop the other work", async () => {
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

test("no work runs in the context of another caller", async () => {
  const storage = new AsyncLocalStorage<string>();
  const seen: unknown[] = [];
  const add = backToBack(() => void seen.push(storage.getStore()), unexpected);
  storage.run("the first", () => add(undefined));
  storage.run("the second", () => add(undefined));
  await setImmediate();
  expect(seen).toEqual([undefined, undefined]);
  // The last of so many does the work of all at once.
  storage.run("the last", () => {
    for (let count = 0; count < 16; count += 1) add(undefined);
  });
  expect(seen).toHaveLength(18);
  expect(new Set(seen)).toEqual(new Set([undefined]));
});
