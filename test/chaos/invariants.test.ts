// The judge, on evidence made by hand: it accepts a correct run and finds each kind of mistake.

import { describe, expect, test } from "vitest";
import type { Evidence } from "./evidence.ts";
import { countsIn, violationsIn, wrongs } from "./invariants.ts";
import type { Final, Findings, GivenAnswer, Heard, Wrong } from "./invariants.ts";

const task = "call-1";
const heard = (key: string, value: string): Heard => ({ key, value });
const told = (run: string, at: number, key: string, value: string): Evidence => ({
  kind: "told",
  at,
  task,
  run,
  key,
  value,
});
const started = (run: string, at: number, key: string, nonce: string): Evidence => ({
  kind: "started",
  at,
  task,
  run,
  key,
  nonce,
  checkedAt: at,
  idempotencyKey: `${task}/${key}`,
  hasUndo: true,
});
const undoing = (at: number, key: string, value?: string): Evidence => ({
  kind: "undoing",
  at,
  task,
  run: "w",
  key,
  undoKey: `${task}/${key}~undo`,
  value,
  checkedAt: at,
});
const undone = (at: number, key: string): Evidence => ({ kind: "undone", at, task, run: "w", key });
const answer = (key: string, value: string, more: Partial<GivenAnswer> = {}): GivenAnswer => ({
  task,
  key,
  wire: key,
  value,
  isGood: true,
  isAcknowledged: true,
  at: undefined,
  dueAt: undefined,
  ...more,
});

const history = [heard("one", "value n1"), heard("ask", "answer Ada"), heard("two", "value n2")];

/** Run a is killed in its second step. Run b receives what a received, and gets to the end. */
const evidence: readonly Evidence[] = [
  started("a", 1, "one", "n1"),
  told("a", 2, "one", "value n1"),
  told("a", 3, "ask", "answer Ada"),
  started("a", 4, "two", "never"),
  told("b", 10, "one", "value n1"),
  told("b", 11, "ask", "answer Ada"),
  started("b", 12, "two", "n2"),
  told("b", 13, "two", "value n2"),
];

const final: Final = {
  task,
  tool: "tool",
  status: "completed",
  error: undefined,
  result: history,
  history,
  begun: ["one", "two"],
  undone: [],
  state: "",
};

const right: Findings = {
  finals: [final],
  evidence,
  answers: [answer("ask", "Ada")],
  rivals: new Map([["raced", "nap"]]),
  crashes: [],
  cancels: new Map(),
  doomed: new Set(),
};

const wrongsIn = (findings: Findings): readonly Wrong[] => [
  ...new Set(violationsIn(findings).map(({ wrong }) => wrong)),
];

/** The log and the result have another value, so only the answers show the mistake. */
function ended(entries: readonly Heard[], answers: readonly GivenAnswer[]): Findings {
  const made = entries.flatMap(({ key, value }, index): Evidence[] =>
    value.startsWith("value ") ? [started("a", index, key, value.slice(6))] : [],
  );
  const ofThese = { ...final, history: entries, result: entries };
  return { ...right, finals: [ofThese], evidence: made, answers };
}

test("it is fine if a body is killed and another run continues", () => {
  expect(violationsIn(right)).toEqual([]);
  expect(countsIn(right)).toMatchObject({ bodies: 3, bodiesAgain: 1, bodiesInTheGap: 0 });
});

describe("answers", () => {
  test("an acknowledged answer that is missing from the history is found", () => {
    const findings = ended([heard("one", "value n1")], [answer("ask", "Ada")]);
    expect(wrongsIn(findings)).toEqual(["answer lost"]);
  });

  test("an acknowledged answer is found if the history has another one", () => {
    const findings = ended(
      [heard("ask", "answer Bob")],
      [answer("ask", "Ada"), answer("ask", "Bob", { isAcknowledged: false })],
    );
    expect(wrongsIn(findings)).toEqual(["answer lost"]);
  });

  test("an acknowledged answer that a live task does not have is found", () => {
    const parked = { ...final, status: "working", result: undefined, history: [] };
    const findings = { ...right, finals: [parked], evidence: [] };
    expect(wrongsIn(findings)).toEqual(["not terminal", "answer lost"]);
  });

  test.each([
    ["was not acknowledged", answer("ask", "Ada", { isAcknowledged: false }), []],
    ["was invalid", answer("ask", "bad", { isGood: false }), []],
    ["came too late", answer("ask", "Ada"), [heard("ask", "expired")]],
    ["lost its race", answer("raced", "Ada"), [heard("nap", "over")]],
  ])("an answer that %s may be missing", (_why, given, entries) => {
    expect(violationsIn(ended(entries, [given]))).toEqual([]);
  });

  test("an answer in no race is not excused by another question's timer", () => {
    expect(wrongsIn(ended([heard("nap", "over")], [answer("ask", "Ada")]))).toEqual([
      "answer lost",
    ]);
  });

  test("an answer that is in time by the store's clock but expired is counted", () => {
    const findings = ended(
      [heard("ask", "expired")],
      [5, 6, 7].map((at) => answer("ask", `at ${at}`, { at, dueAt: 6 })),
    );
    expect(countsIn(findings)).toMatchObject({ answersTooLate: 3, answersOvertaken: 1 });
  });

  test("answers that were never given, or that were invalid, are found", () => {
    const entries = [heard("ask", "answer Eve")];
    expect(wrongsIn(ended(entries, []))).toEqual(["answer made up"]);
    const bad = [answer("ask", "Eve", { isGood: false })];
    expect(wrongsIn(ended(entries, bad))).toEqual(["answer made up"]);
  });
});

describe("histories", () => {
  test("a run that received the same entries in another order is found", () => {
    const swapped = [told("c", 20, "ask", "answer Ada"), told("c", 21, "one", "value n1")];
    const findings = { ...right, evidence: [...evidence, ...swapped] };
    expect(wrongsIn(findings)).toEqual(["history diverged"]);
  });

  test("a run that received more than the log has is found", () => {
    const findings = { ...right, evidence: [...evidence, told("b", 20, "nap", "over")] };
    expect(wrongsIn(findings)).toEqual(["history diverged"]);
  });

  test("a step with two outcomes is found", () => {
    const again = [started("c", 1, "one", "n9"), told("c", 20, "one", "value n9")];
    const findings = { ...right, evidence: [...evidence, ...again] };
    expect(wrongsIn(findings)).toEqual(["history diverged", "two outcomes"]);
  });

  test("a step that is twice in a log is found", () => {
    const twice = [...history, heard("two", "value n1")];
    const doubled = { ...final, history: twice, result: twice };
    const findings = { ...right, finals: [doubled], evidence };
    expect(wrongsIn(findings)).toContain("two outcomes");
  });

  test("an outcome that no body had is found", () => {
    const findings = { ...right, evidence: evidence.filter(({ kind }) => kind === "told") };
    expect(wrongsIn(findings)).toEqual(["outcome made up"]);
  });
});

describe("bodies", () => {
  test("a body that started after the handler had its outcome is found", () => {
    const findings = { ...right, evidence: [...evidence, started("c", 5, "one", "n3")] };
    expect(violationsIn(findings)).toEqual([
      {
        wrong: "completed body repeated",
        task,
        what: '"one" was delivered, and 3 ms later run c started n3',
      },
    ]);
  });

  test("a pause between the check of the lease and the body is counted, and is not a violation", () => {
    const late = { ...started("c", 5, "one", "n3"), checkedAt: 1.5 } as Evidence;
    const findings = { ...right, evidence: [...evidence, late] };
    expect(violationsIn(findings)).toEqual([]);
    expect(countsIn(findings)).toMatchObject({ bodiesInTheGap: 1 });
  });

  test("a body with a different idempotency key than before is found", () => {
    const other = { ...started("c", 1, "one", "n3"), idempotencyKey: "other" } as Evidence;
    const findings = { ...right, evidence: [...evidence, other] };
    expect(wrongsIn(findings)).toEqual(["idempotency key changed"]);
  });
});

describe("undos", () => {
  const took = (...keys: string[]) => keys.map((key) => ({ key, error: undefined }));
  /** The task is cancelled at its end. The undo of the second step dies once. */
  const undos = [
    undoing(20, "two", "n2"),
    undoing(25, "two", "n2"),
    undone(26, "two"),
    undoing(27, "one", "n1"),
    undone(28, "one"),
  ];
  const cancelled: Findings = {
    ...right,
    finals: [{ ...final, status: "cancelled", result: undefined, undone: took("two", "one") }],
    evidence: [...evidence, ...undos],
    cancels: new Map([[task, "cancelled"]]),
  };
  const withFinal = (more: Partial<Final>): Findings => ({
    ...cancelled,
    finals: cancelled.finals.map((one) => ({ ...one, ...more })),
  });
  const withUndos = (...some: Evidence[]): Findings => ({
    ...cancelled,
    evidence: [...evidence, ...some],
  });

  test("a cancelled task whose steps are undone is fine, and so is one that throws", () => {
    expect(violationsIn(cancelled)).toEqual([]);
    expect(countsIn(cancelled)).toMatchObject({ cancelled: 1, stepsUndone: 2, undosAgain: 1 });
    const failed = {
      ...withFinal({ status: "failed" }),
      cancels: new Map(),
      doomed: new Set([task]),
    };
    expect(violationsIn(failed)).toEqual([]);
  });

  test.each<[Wrong, string, Findings]>([
    ["step not undone", "has no record", withFinal({ undone: took("two") })],
    [
      "step not undone",
      "was given up",
      withFinal({ undone: [...took("two"), { key: "one", error: "no" }] }),
    ],
    ["step not undone", "never ran to its end", withUndos(...undos.slice(0, 4))],
    [
      "step not undone",
      "began without a record",
      withFinal({ begun: ["one"], undone: took("one") }),
    ],
    ["undone again", "is recorded twice", withFinal({ undone: took("two", "one", "two") })],
    ["undone again", "ran after the next one", withUndos(...undos, undoing(30, "two", "n2"))],
    ["undone in another order", "is in the wrong place", withFinal({ undone: took("one", "two") })],
    ["undone in another order", "did not wait", withUndos(undoing(19, "one", "n1"), ...undos)],
    ["undone with another value", "got nothing", withUndos(...undos, undoing(29, "one"))],
    ["undone with another value", "got too much", withUndos(...undos, undoing(29, "one", "n2"))],
    ["completed task undone", "ran", { ...right, evidence: cancelled.evidence }],
    [
      "two ends",
      "completes after all",
      withFinal({ status: "completed", undone: [], result: history }),
    ],
    ["not completed", "was never cancelled", { ...cancelled, cancels: new Map() }],
  ])("%s is found: one that %s", (wrong, _which, findings) => {
    expect(wrongsIn(findings)).toContain(wrong);
  });
});

describe("ends", () => {
  test.each([
    ["not terminal", { status: undefined }],
    ["not terminal", { status: "working" }],
    ["not terminal", { status: "input_required" }],
    ["not completed", { status: "failed" }],
    ["not completed", { status: "cancelled" }],
    ["wrong result", { result: undefined }],
    ["wrong result", { result: history.slice(1) }],
    ["wrong result", { result: history.toReversed() }],
  ])("%s is found: %j", (wrong, more) => {
    expect(wrongsIn({ ...right, finals: [{ ...final, begun: [], ...more }] })).toContain(wrong);
  });

  test("a replica that crashed by itself is found", () => {
    expect(wrongsIn({ ...right, crashes: ["crashed Error"] })).toEqual(["replica crashed"]);
  });
});

test("every violation has its own name", () => {
  expect(new Set(wrongs).size).toBe(wrongs.length);
});
