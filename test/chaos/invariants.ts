// What must hold after a run, no matter what happened to the replicas. It is pure: it compares what handlers and bodies
// noted, what was acknowledged to the client, and the records at the end.

import type { BodyStarted, Evidence, Told, UndoEnded, UndoStarted } from "./evidence.ts";
import { told } from "./told.ts";
import { undoneAgain, undoneWrongly } from "./undo-invariants.ts";

export interface Heard {
  readonly key: string;
  readonly value: string;
}

/** A task as the store has it at the end. */
export interface Final {
  readonly task: string;
  readonly tool: string;
  /** Undefined if the store has no such task. */
  readonly status: string | undefined;
  /** The error of a failed task. */
  readonly error: string | undefined;
  /** What the handler had received when it returned, as it says itself. */
  readonly result: readonly Heard[] | undefined;
  /** The part of the log that handlers receive. */
  readonly history: readonly Heard[];
  /** The steps to undo if the task does not end well, in the order they began. */
  readonly begun: readonly string[];
  /** The undos that have ended, in the order of the log. */
  readonly undone: readonly { readonly key: string; readonly error: string | undefined }[];
  /** What the task waits for, and its worker, if it has not ended. */
  readonly state: string;
}

export interface GivenAnswer {
  readonly task: string;
  readonly key: string;
  readonly wire: string;
  readonly value: string;
  /** Whether the answer is valid for the handler. */
  readonly isGood: boolean;
  /** Whether the store acknowledged it. */
  readonly isAcknowledged: boolean;
  /** When it arrived and when the time limit of its question ended, by the store's clock. */
  readonly at: number | undefined;
  readonly dueAt: number | undefined;
}

export interface Findings {
  readonly finals: readonly Final[];
  readonly evidence: readonly Evidence[];
  readonly answers: readonly GivenAnswer[];
  /** Questions that may lose a race, and the timer that wins it then. */
  readonly rivals: ReadonlyMap<string, string>;
  /** Replicas that crashed by themselves, and why. */
  readonly crashes: readonly string[];
  /** The tasks that the client cancelled, and the status that the store reported then, if it responded. */
  readonly cancels: ReadonlyMap<string, string | undefined>;
  /** The tasks whose handler throws at its end. */
  readonly doomed: ReadonlySet<string>;
}

export const wrongs = [
  "answer lost",
  "answer made up",
  "history diverged",
  "two outcomes",
  "outcome made up",
  "completed body repeated",
  "idempotency key changed",
  "not terminal",
  "not completed",
  "wrong result",
  "two ends",
  "step not undone",
  "undone again",
  "undone in another order",
  "undone with another value",
  "completed task undone",
  "stream mixed",
  "stream differs",
  "part left behind",
  "replica crashed",
] as const;

export type Wrong = (typeof wrongs)[number];

export interface Violation {
  readonly wrong: Wrong;
  readonly task: string;
  readonly what: string;
}

/** The findings about one task. */
export interface Case {
  readonly final: Final;
  readonly tellings: readonly Told[];
  readonly bodies: readonly BodyStarted[];
  readonly answers: readonly GivenAnswer[];
  readonly undos: readonly UndoStarted[];
  readonly undosEnded: readonly UndoEnded[];
}

export function violationsIn(findings: Findings): Violation[] {
  const { finals, evidence, answers, rivals, crashes } = findings;
  const tellings = byTask(evidence.filter((one): one is Told => one.kind === "told"));
  const bodies = byTask(evidence.filter((one): one is BodyStarted => one.kind === "started"));
  const undos = byTask(evidence.filter((one): one is UndoStarted => one.kind === "undoing"));
  const undosEnded = byTask(evidence.filter((one): one is UndoEnded => one.kind === "undone"));
  const given = byTask(answers);
  const crashed = crashes.map((what): Violation => ({ wrong: "replica crashed", task: "", what }));
  const inTasks = finals.flatMap((final) => {
    const { task } = final;
    const one: Case = {
      final,
      tellings: tellings.get(task) ?? [],
      bodies: bodies.get(task) ?? [],
      answers: given.get(task) ?? [],
      undos: undos.get(task) ?? [],
      undosEnded: undosEnded.get(task) ?? [],
    };
    return [
      ...unfinished(one, findings),
      ...undoneWrongly(one),
      ...undoneAgain(one),
      ...lostAnswers(one, rivals),
      ...madeUpAnswers(one),
      ...divergence(one),
      ...twoOutcomes(one),
      ...madeUpOutcomes(one),
      ...repeatedBodies(one),
      ...changedKeys(one),
    ];
  });
  return [...crashed, ...inTasks];
}

// ---------------------------------------------------------------- ends

function* unfinished(
  { final }: Case,
  { cancels, doomed }: Pick<Findings, "cancels" | "doomed">,
): Generator<Violation> {
  const { task, status, error, result, history, state } = final;
  if (status === undefined) {
    yield { wrong: "not terminal", task, what: "the store does not know it" };
  } else if (status === "working" || status === "input_required") {
    yield { wrong: "not terminal", task, what: `it is ${status}, ${state}` };
  } else if ((cancels.get(task) ?? status) !== status) {
    yield { wrong: "two ends", task, what: `${cancels.get(task)} first, ${status} at the end` };
  } else if (
    status === "cancelled" ? !cancels.has(task) : doomed.has(task) !== (status === "failed")
  ) {
    yield { wrong: "not completed", task, what: `it ${status}: ${error}` };
  } else if (status !== "completed") {
    // It was cancelled, or its handler threw, as it should.
  } else if (result === undefined || shown(result) !== shown(history)) {
    const what = `result ${shown(result ?? [])}; history ${shown(history)}`;
    yield { wrong: "wrong result", task, what };
  }
}

// ---------------------------------------------------------------- answers

function* lostAnswers(
  { final, answers }: Case,
  rivals: ReadonlyMap<string, string>,
): Generator<Violation> {
  const { task, status, history } = final;
  // A task that is cancelled does not use what has arrived.
  if (status === "cancelled") return;
  const has = (key: string, value: string) =>
    history.some((heard) => heard.key === key && heard.value === value);
  for (const { key, wire, value, isGood, isAcknowledged } of answers) {
    if (!isAcknowledged || !isGood || has(key, told.answer(value))) continue;
    const rival = rivals.get(key);
    const hasLost = rival !== undefined && has(rival, told.timer);
    if (hasLost || has(key, told.expired)) continue;
    yield { wrong: "answer lost", task, what: `"${wire}" was answered ${value}` };
  }
}

function* madeUpAnswers({ final, answers }: Case): Generator<Violation> {
  const { task, history } = final;
  const given = answers.filter(({ isGood }) => isGood);
  for (const { key, value } of history) {
    if (!value.startsWith(told.answer(""))) continue;
    if (given.some((answer) => answer.key === key && told.answer(answer.value) === value)) continue;
    yield { wrong: "answer made up", task, what: `"${key}": ${value}` };
  }
}

// ---------------------------------------------------------------- what handlers received

/** Every run receives what the log has, in the same order, as far as it gets. */
function* divergence({ final, tellings }: Case): Generator<Violation> {
  const { task, history } = final;
  for (const [run, heard] of grouped(tellings, (one) => one.run)) {
    const at = heard.findIndex(({ key, value }, index) => {
      const recorded = history[index];
      return recorded?.key !== key || recorded.value !== value;
    });
    if (at === -1) continue;
    const what = `run ${run} heard ${shown(heard)}; history ${shown(history)}`;
    yield { wrong: "history diverged", task, what };
    // A task has one history, so it is counted once.
    return;
  }
}

function* twoOutcomes({ final, tellings }: Case): Generator<Violation> {
  const { task, history } = final;
  const outcomes = new Map<string, Set<string>>();
  for (const { key, value } of [...tellings, ...history]) {
    const known = outcomes.get(key) ?? new Set();
    outcomes.set(key, known.add(value));
  }
  for (const [key, values] of outcomes) {
    if (values.size < 2) continue;
    yield { wrong: "two outcomes", task, what: `"${key}": ${[...values].join(" and ")}` };
  }
}

function* madeUpOutcomes({ final, tellings, bodies }: Case): Generator<Violation> {
  const { task, history } = final;
  const possible = new Set(
    bodies.flatMap(({ key, nonce }) => [
      `${key} ${told.step(nonce)}`,
      `${key} ${told.threw(nonce)}`,
    ]),
  );
  for (const { key, value } of [...tellings, ...history]) {
    const isOutcome = value.startsWith(told.step("")) || value.startsWith(told.threw(""));
    if (!isOutcome || possible.has(`${key} ${value}`)) continue;
    yield { wrong: "outcome made up", task, what: `"${key}": ${value}` };
  }
}

// ---------------------------------------------------------------- bodies

/** The worker checked its lease and started the body after a handler had received the outcome. */
function* repeatedBodies({ final, tellings, bodies }: Case): Generator<Violation> {
  const first = firstTold(tellings, ({ key }) => key);
  for (const { key, nonce, run, at, checkedAt } of bodies) {
    const toldAt = first.get(key);
    if (toldAt === undefined || checkedAt <= toldAt) continue;
    const what = `"${key}" was delivered, and ${Math.round(at - toldAt)} ms later run ${run} started ${nonce}`;
    yield { wrong: "completed body repeated", task: final.task, what };
  }
}

function* changedKeys({ final, bodies }: Case): Generator<Violation> {
  const known = new Map<string, string>();
  for (const { key, idempotencyKey } of bodies) {
    const before = known.get(key) ?? idempotencyKey;
    known.set(key, before);
    if (before === idempotencyKey) continue;
    const what = `"${key}": ${before} and ${idempotencyKey}`;
    yield { wrong: "idempotency key changed", task: final.task, what };
  }
}

// ---------------------------------------------------------------- what is only counted

export interface Counts {
  readonly runs: number;
  readonly bodies: number;
  /** Bodies that were killed or given up before they were recorded, and ran again. */
  readonly bodiesAgain: number;
  /** Bodies whose process was paused between the check of the lease and the body. No engine can close that gap. */
  readonly bodiesInTheGap: number;
  readonly answersGiven: number;
  readonly answersAcknowledged: number;
  /** Answers that were acknowledged and not used, because their question had lost a race or had expired. */
  readonly answersTooLate: number;
  /** Those of them that the store had in time, and that the worker did not know of yet. */
  readonly answersOvertaken: number;
  readonly cancelled: number;
  readonly failed: number;
  readonly stepsUndone: number;
  /** Undos that failed or were killed before they were recorded, and ran again. */
  readonly undosAgain: number;
}

export function countsIn({ finals, evidence, answers }: Findings): Counts {
  const bodies = evidence.filter((one) => one.kind === "started");
  const undos = evidence.filter((one) => one.kind === "undoing");
  const attempts = new Set(bodies.map(({ run, task, key }) => `${run} ${task} ${key}`));
  const steps = new Set(bodies.map(({ task, key }) => `${task} ${key}`));
  const first = firstTold(
    evidence.filter((one) => one.kind === "told"),
    ({ task, key }) => `${task} ${key}`,
  );
  const histories = new Map(finals.map(({ task, history }) => [task, history]));
  const acknowledged = answers.filter(({ isAcknowledged, isGood }) => isAcknowledged && isGood);
  const unused = acknowledged.filter(
    ({ task, key, value }) =>
      histories
        .get(task)
        ?.some((heard) => heard.key === key && heard.value === told.answer(value)) !== true,
  );
  return {
    runs: evidence.filter(({ kind }) => kind === "run").length,
    bodies: bodies.length,
    bodiesAgain: attempts.size - steps.size,
    bodiesInTheGap: bodies.filter(({ task, key, at, checkedAt }) => {
      const toldAt = first.get(`${task} ${key}`);
      return toldAt !== undefined && checkedAt <= toldAt && toldAt < at;
    }).length,
    answersGiven: answers.length,
    answersAcknowledged: answers.filter(({ isAcknowledged }) => isAcknowledged).length,
    answersTooLate: unused.length,
    answersOvertaken: unused.filter(
      ({ at, dueAt }) => at !== undefined && dueAt !== undefined && at < dueAt,
    ).length,
    cancelled: finals.filter(({ status }) => status === "cancelled").length,
    failed: finals.filter(({ status }) => status === "failed").length,
    stepsUndone: finals.reduce((sum, { undone }) => sum + undone.length, 0),
    undosAgain: undos.length - new Set(undos.map(({ undoKey }) => undoKey)).size,
  };
}

// ---------------------------------------------------------------- helpers

/** When the first handler received it. */
function firstTold(tellings: readonly Told[], name: (one: Told) => string): Map<string, number> {
  const first = new Map<string, number>();
  for (const one of tellings) {
    first.set(name(one), Math.min(one.at, first.get(name(one)) ?? Infinity));
  }
  return first;
}

function grouped<T>(list: readonly T[], name: (one: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const one of list) {
    const group = groups.get(name(one));
    if (group === undefined) groups.set(name(one), [one]);
    else group.push(one);
  }
  return groups;
}

const byTask = <T extends { readonly task: string }>(list: readonly T[]): Map<string, T[]> =>
  grouped(list, ({ task }) => task);

const shown = (list: readonly Heard[]): string =>
  list.map(({ key, value }) => `${key}=${value}`).join(", ");
