import { setImmediate } from "node:timers/promises";
import { expect, test } from "vitest";
import { backToBack } from "./back-to-back.ts";

test("what comes in one turn of the event loop is done together, in its order, once", async () => {
  const done: string[] = [];
  const add = backToBack((word: string) => void done.push(word));
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
  });
  add(2);
  await setImmediate();
  expect(done).toEqual([2]);
  await setImmediate();
  await setImmediate();
  expect(done).toEqual([2, 1, 0]);
});
