// What people read about a run that was lost: whether its worker died, who took over, and what ran again.

import { expect, test } from "vitest";
import type { EntryFacts } from "../wire.ts";
import { begunText, endOf, lossText, takeoverText } from "./run-ends.ts";
import { knownRuns } from "./timeline-scale.ts";

/** Run 1 recorded something at 1 s. Run 2 began 35 s later. */
const [one, two] = [
  { epoch: 1, worker: "a", beganAt: 0, endedAt: 36_000, how: "lost" },
  { epoch: 2, worker: "b", beganAt: 36_000 },
] as const;
const known = (runs: Parameters<typeof knownRuns>[0], records: [number, number][] = [[1, 1000]]) =>
  knownRuns(runs, new Map(records), 90_000);

const step = (key: string, epoch: number, at: number, ms: number): EntryFacts => ({
  seq: at,
  kind: "step",
  key,
  epoch,
  at,
  ms,
  bytes: 1,
});
const read = step("read", 1, 1000, 10);

/** What is said of the last run that was lost. */
const told = (entries: readonly EntryFacts[], runs = known([one, two]), isOver = false) => {
  const lost = runs.findLast(({ isLost }) => isLost);
  return lost === undefined ? undefined : lossText(lost, runs, entries, isOver);
};

test("a worker died if it is silent, and otherwise lost its hold on the task", () => {
  const runs = known([one, two]);
  expect(runs.map((run) => endOf(run))).toEqual([
    "Its worker lost its hold on the task.",
    "It is under way.",
  ]);
  expect(told([read])).toMatch(
    /^a lost its hold on the task, and b took over in run 2\. What was recorded until then was not run again\./,
  );
  const dead = known([{ ...one, isSilent: true }, two]);
  expect(dead.map((run) => endOf(run))[0]).toBe("Its worker died.");
  expect(told([read], dead)).toMatch(/^a died while it held the task, and b took over in run 2\./);
});

test("a worker whose lease has ended is not said to be under way", () => {
  expect(known([{ ...two, leaseEndedAt: 80_000 }]).map((run) => endOf(run))).toEqual([
    "Its worker has not renewed its lease, and no worker has taken over.",
  ]);
});

test("the time until the takeover counts from what is known: the last record, or the beginning", () => {
  const textOf = (runs: ReturnType<typeof known>) => runs.map((run) => takeoverText(run, runs));
  expect(textOf(known([one, two]))).toEqual(["b took over, 35 s after its last record.", ""]);
  expect(textOf(known([one, two], []))[0]).toBe("b took over, 36 s after it began.");
  const again = known([one, { ...two, worker: "a" }]);
  expect(textOf(again)[0]).toBe("It took the task up again, 35 s after its last record.");
  expect(told([read], again)).toMatch(
    /^a lost its hold on the task, and took it up again in run 2\./,
  );
});

test("nobody has taken over yet, or any more", () => {
  const runs = known([one]);
  expect(told([read], runs)).toContain("and no worker has taken over yet.");
  expect(takeoverText(runs[0] as (typeof runs)[0], runs)).toBe("");
  expect(told([read], runs, true)).toBe(
    "a lost its hold on the task, and no worker took over. What was recorded until then was not run again.",
  );
});

test("the step that the next run ended first may have been under way", () => {
  expect(told([read, step("rebuild", 2, 96_000, 60_000), step("swap", 2, 96_001, 1)])).toContain(
    'Step "rebuild" was not recorded, so run 2 ran it. If it had already begun, this was the second time, with the same idempotency key.',
  );
  // Both had begun before the first of them ended.
  expect(told([read, step("left", 2, 40_000, 4000), step("right", 2, 41_000, 4000)])).toContain(
    'Steps "left" and "right" were not recorded, so run 2 ran them. If they had already begun, this was the second time, with the same idempotency keys.',
  );
  // The version of the worker is written before anything goes on.
  const version: EntryFacts = {
    seq: 2,
    kind: "version",
    key: "2.0.0",
    epoch: 2,
    at: 36_001,
    bytes: 1,
  };
  expect(told([read, version, step("rebuild", 2, 96_000, 60_000)])).toContain('Step "rebuild" was');
});

test("nothing is said of steps if none can have been under way", () => {
  const answer: EntryFacts = { seq: 2, kind: "answer", key: "ok", epoch: 2, at: 37_000, bytes: 1 };
  expect(told([read, answer, step("pay", 2, 38_000, 500)])).toMatch(/was not run again\.$/);
  // It was first begun by run 2.
  const begun = { ...step("hold", 2, 36_500, 0), kind: "begun" };
  expect(told([read, begun, step("hold", 2, 38_000, 1500)])).toMatch(/was not run again\.$/);
});

test("a step with an undo is known to have begun", () => {
  const begun = { ...step("hold", 1, 1500, 0), kind: "begun" };
  expect(told([read, begun])).toContain(
    'Step "hold" had begun and was not recorded, so it runs again, with the same idempotency key.',
  );
  expect(told([read, begun, step("hold", 2, 38_000, 1500)])).toContain(
    'Step "hold" had begun and was not recorded, so it ran again in run 2, with the same idempotency key.',
  );
  expect(begunText([read, begun])).toBe('Step "hold" has begun.');
  expect(begunText([read, begun, step("hold", 2, 38_000, 1500)])).toBe("");
});

test("as long as nothing is recorded after it, and without the keys, the rule is said", () => {
  const rule = "If a step was under way, it runs again, with the same idempotency key.";
  expect(told([read])).toContain(rule);
  expect(
    told([
      { seq: 0, epoch: 1, bytes: 1 },
      { seq: 1, epoch: 2, bytes: 1 },
    ]),
  ).toContain(rule);
  const sealed = [
    { seq: 0, epoch: 1, bytes: 1 },
    { seq: 1, epoch: 2, bytes: 1 },
  ];
  expect(told(sealed, undefined, true)).toContain("If a step was under way, it ran again, with");
});

test("with several runs that were lost, the last one is told, and how many there were", () => {
  const third = { epoch: 3, worker: "c", beganAt: 80_000 };
  const second = { ...two, endedAt: 80_000, how: "lost" as const };
  expect(told([read], known([one, second, third]))).toMatch(
    /^b lost its hold .* c took over in run 3\. .* Workers lost the task 2 times in all\.$/,
  );
});
