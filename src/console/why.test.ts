// What people are told about a task that does not run.

import { expect, test } from "vitest";
import type { TaskListing } from "../tasks/task-reader.ts";
import { lateMs, reasonFor } from "./why.ts";
import type { Surroundings } from "./why.ts";

const now = 1_000_000_000;

const around: Surroundings = {
  now,
  workers: [{ name: "b", seenAt: now - 1_000 }],
  silenceMs: lateMs,
  cause: undefined,
  unreadable: undefined,
  isToolGone: false,
};

/** A task that waits for nothing and is not due. */
const task: TaskListing = {
  id: "task-1",
  callId: "call-1",
  tool: "refund",
  principal: "ada",
  status: "working",
  statusMessage: undefined,
  createdAt: now - 3_600_000,
  updatedAt: now - 3_600_000,
  expiresAt: now + 3_600_000,
  dueAt: undefined,
  epoch: 1,
  worker: undefined,
  fruitless: 0,
  undos: 0,
  waits: [],
} as unknown as TaskListing;

test("an approval says how many have agreed, if it needs more than one", () => {
  const decided = { who: "bo", value: "sealed", at: now };
  const wait = { kind: "external", key: "pay", wire: "w", group: "finance" } as const;
  const whyOf = (more: object) =>
    reasonFor({ ...task, waits: [{ ...wait, ...more }] }, around)?.why;
  expect(whyOf({ needs: 1 })).toBe('It waits for group finance to approve "pay".');
  const decisions = [
    { ...decided, approves: true },
    { ...decided, approves: false },
  ];
  expect(whyOf({ needs: 3, decisions })).toBe(
    'It waits for group finance to approve "pay", and 1 of 3 have.',
  );
});

test.each([
  [
    "no worker is alive",
    { workers: [] },
    "No worker runs on this store. Start one: app.work(), or npx mcp-parley worker.",
  ],
  [
    "this server has the tool",
    {},
    'No worker has taken it: none has the tool "refund", or all of them are busy.',
  ],
  [
    "this server does not have the tool",
    { isToolGone: true },
    'No worker has taken it, and this version of the server does not have the tool "refund". Deploy one that has it, or cancel the task.',
  ],
])("a task that is overdue is stuck, and the reason is that %s", (_, known, reason) => {
  const late = { ...task, dueAt: now - 60_000 };
  expect(reasonFor(late, { ...around, ...known })).toEqual({
    isStuck: true,
    why: `It has been due for 60 s. ${reason}`,
  });
});

test("another worker takes over from one that is silent, but not for ever", () => {
  const workers = [...around.workers, { name: "a", seenAt: now - 90_000 }];
  const whyOf = (overdue: number, more: Partial<Surroundings> = {}) =>
    reasonFor({ ...task, worker: "a", dueAt: now - overdue }, { ...around, workers, ...more });
  expect(whyOf(lateMs)).toEqual({
    isStuck: false,
    why: "Its worker a has not renewed its lease and was last seen 2 min ago. Another worker takes the task over.",
  });
  // By then it would have.
  expect(whyOf(720_000)).toEqual({
    isStuck: true,
    why: 'It has been due for 12 min. No worker has taken it: none has the tool "refund", or all of them are busy. It was held by a, last seen 2 min ago.',
  });
  expect(whyOf(720_000, { isToolGone: true })?.why).toBe(
    'It has been due for 12 min. No worker has taken it, and this version of the server does not have the tool "refund". Deploy one that has it, or cancel the task. It was held by a, last seen 2 min ago.',
  );
  expect(whyOf(-1)).toEqual({ isStuck: false, why: "It is held by a, which is silent." });
  expect(whyOf(-1, around)).toEqual({ isStuck: false, why: "It runs on a." });
  const long = { ...task, worker: "a", dueAt: now + 1_000, claimedAt: now - 21 * 60_000 };
  expect(reasonFor(long, around)?.why).toBe("It has run on a for 21 min.");
});

test("that no worker runs is not said of others, unless the one that holds the task is alive", () => {
  const held = { ...task, worker: "a", dueAt: now - 60_000 };
  const whyOf = (seenAt: number) =>
    reasonFor(held, { ...around, workers: [{ name: "a", seenAt }] })?.why;
  expect(whyOf(now - 90_000)).toMatch(/due for 60 s\. No worker runs on this store\./);
  expect(whyOf(now - 1_000)).toMatch(/due for 60 s\. No other worker runs on this store\./);
});

test("a task that no worker can open names the key and says what to do", () => {
  const again = { ...task, dueAt: now + 8_000, cause: "sealed" };
  const whyOf = (fruitless: number, dueAt = again.dueAt, keyId: string | undefined = "other") =>
    reasonFor({ ...again, fruitless, dueAt }, { ...around, unreadable: { keyId } });
  expect(whyOf(0)).toEqual({
    isStuck: false,
    why: 'The last worker could not open it: it is sealed with the key "other". Another worker may have that key. It is tried again in 8 s.',
  });
  const stuck =
    'No worker can open it: it is sealed with the key "other". Start a replica whose PARLEY_KEYS has that key, or cancel the task.';
  expect(whyOf(2)).toEqual({ isStuck: true, why: `${stuck} It is tried again in 8 s.` });
  // For the moment between two runs it stays stuck.
  expect(whyOf(2, now - 100)).toMatchObject({ isStuck: true, why: expect.stringContaining(stuck) });
  expect(
    reasonFor({ ...again, fruitless: 2 }, { ...around, unreadable: { keyId: undefined } })?.why,
  ).toMatch(/^No worker can open it: it is sealed with a key that they lack\. Start a replica/);
});

test("runs without progress and without a cause say where the reason is", () => {
  const whyOf = (more: object, cause?: string) =>
    reasonFor({ ...task, id: "58f1ca00ffee", dueAt: now + 5_000, ...more }, { ...around, cause })
      ?.why;
  expect(whyOf({ fruitless: 2 })).toBe(
    "2 runs in a row made no progress. The log of their worker has the reason: search for 58f1ca. Or cancel the task. It is tried again in 5 s.",
  );
  expect(whyOf({ fruitless: 2 }, "boom")).toBe(
    "2 runs in a row made no progress. The last one failed with: boom It is tried again in 5 s.",
  );
  expect(whyOf({ fruitless: 2, status: "failed", undos: 1 })).toBe(
    "One step has to be undone. 2 runs in a row made no progress. The log of their worker has the reason: search for 58f1ca.",
  );
});
