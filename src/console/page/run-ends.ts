// How a run ended, in words. If its worker lost it, also who took over and what ran again.

import type { EntryFacts } from "../wire.ts";
import { duration, grouped, listed } from "./format.ts";
import type { KnownRun } from "./timeline-scale.ts";

/** How the run ended, without what came after it. */
export function endOf({ isDead, isLost, isOpen, leaseEndedAt, how }: KnownRun): string {
  if (isDead) return "Its worker died.";
  if (isLost) return "Its worker lost its hold on the task.";
  if (!isOpen) return ends[how ?? ""] ?? "It ended.";
  return leaseEndedAt === undefined
    ? "It is under way."
    : "Its worker has not renewed its lease, and no worker has taken over.";
}

const ends: Readonly<Record<string, string>> = {
  parked: "It let go of the task to wait.",
  released: "The worker gave it back.",
  failed: "It failed and is tried again.",
  finished: "It finished.",
  cancelled: "The task was cancelled.",
  expired: "The time of the task was up.",
  undone: "Its steps were undone.",
};

/** Who took a lost run over, and when. Empty if nobody has, or if the run was not lost. */
export function takeoverText(run: KnownRun, runs: readonly KnownRun[]): string {
  const next = nextOf(run, runs);
  if (!run.isLost || next === undefined) return "";
  const who = next.worker === run.worker ? "It took the task up again" : `${next.worker} took over`;
  const since = run.recordedAt === undefined ? "it began" : "its last record";
  return `${who}, ${duration(next.beganAt - run.until)} after ${since}.`;
}

const nextOf = ({ epoch }: KnownRun, runs: readonly KnownRun[]): KnownRun | undefined =>
  runs.find((run) => run.epoch > epoch);

/** What became of a task whose worker lost it, in a few sentences. */
export function lossText(
  run: KnownRun,
  runs: readonly KnownRun[],
  entries: readonly EntryFacts[],
  isOver: boolean,
): string {
  const { worker, isDead } = run;
  const next = nextOf(run, runs);
  const loss = isDead ? "died while it held the task" : "lost its hold on the task";
  const taken =
    next === undefined
      ? isOver
        ? "no worker took over"
        : "no worker has taken over yet"
      : next.worker === worker
        ? `took it up again in run ${next.epoch}`
        : `${next.worker} took over in run ${next.epoch}`;
  const others = runs.filter(({ isLost }) => isLost).length - 1;
  const more = others === 0 ? "" : `Workers lost the task ${grouped(others + 1)} times in all.`;
  const kept = "What was recorded until then was not run again.";
  return [`${worker} ${loss}, and ${taken}.`, kept, againText(run, entries, isOver), more]
    .filter((text) => text !== "")
    .join(" ");
}

/** Which steps ran again. The log has what ended. Only a step with an undo is also recorded when it begins. */
function againText({ epoch }: KnownRun, entries: readonly EntryFacts[], isOver: boolean): string {
  const begun = entries.filter(
    (entry) =>
      entry.kind === "begun" &&
      runOf(entry) <= epoch &&
      !entries.some((one) => isEnd(one) && one.key === entry.key && runOf(one) <= epoch),
  );
  const later = entries.filter((entry) => runOf(entry) > epoch && !marks.has(entry.kind ?? ""));
  const [first] = later;
  if (first === undefined && isOver) return "";
  if (begun.length > 0) {
    const steps = named(begun);
    return `${steps.subject} had begun and ${steps.was} not recorded, so ${steps.it} ${first === undefined ? "runs again" : `ran again in run ${runOf(first)}`}, with the same idempotency ${steps.key}.`;
  }
  if (first?.kind === undefined) {
    const again = isOver ? "ran" : "runs";
    return `If a step was under way, it ${again} again, with the same idempotency key.`;
  }
  // Steps that the next run began before it recorded anything can have been under way. Later ones cannot.
  const missed = later.filter(
    (entry) =>
      isEnd(entry) &&
      runOf(entry) === runOf(first) &&
      (entry === first || (entry.at ?? 0) - (entry.ms ?? 0) < (first.at ?? 0)) &&
      !entries.some(({ kind, key }) => kind === "begun" && key === entry.key),
  );
  if (missed.length === 0) return "";
  const steps = named(missed);
  return `${steps.subject} ${steps.was} not recorded, so run ${runOf(first)} ran ${steps.them}. If ${steps.it} had already begun, this was the second time, with the same idempotency ${steps.key}.`;
}

const runOf = ({ epoch = 0 }: EntryFacts): number => epoch;

const isEnd = ({ kind }: EntryFacts): boolean => kind === "step" || kind === "threw";

/** Entries that a run can write before it goes on where the last one was. */
const marks: ReadonlySet<string> = new Set([
  "background",
  "changed",
  "checkpoint",
  "patched",
  "version",
]);

/** The words of a sentence about these steps. */
function named(steps: readonly EntryFacts[]) {
  const keys = steps.map(({ key }) => `"${key}"`);
  return steps.length === 1
    ? { subject: `Step ${keys[0]}`, was: "was", it: "it", them: "it", key: "key" }
    : { subject: `Steps ${listed(keys)}`, was: "were", it: "they", them: "them", key: "keys" };
}

/** The steps that a run has begun and not ended, as far as they are recorded. */
export const begunText = (entries: readonly EntryFacts[]): string => {
  const open = entries.filter(
    (entry) =>
      entry.kind === "begun" && !entries.some((one) => isEnd(one) && one.key === entry.key),
  );
  return open.length === 0
    ? ""
    : `${named(open).subject} ${open.length === 1 ? "has" : "have"} begun.`;
};
