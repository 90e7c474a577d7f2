// Where an errand's first engine can die.

import type { Point } from "./life.ts";

/**
 * The store calls of an engine that runs an errand, by name. Written down, so that the enumeration cannot
 * shrink unseen: a test holds the engine to it.
 */
const counts = {
  migrate: 1,
  // One when it starts, one that brings the answer to the run under way.
  renew: 2,
  sweep: 1,
  create: 1,
  // Eight waits, each ended by an answer, a timer or a delivery; the refused answer has no entry.
  claim: 8,
  park: 8,
  append: 12,
  report: 1,
  publish: 2,
  finish: 1,
};

/** Of one that is told to leave while it is at the last step but one: the same up to there. */
const leaving = { renew: 1, append: 9, publish: 1, finish: 0, release: 1, leave: 1 };

const named = (numbers: Readonly<Record<string, number>>): readonly string[] =>
  Object.entries(numbers).flatMap(([name, count]) =>
    Array.from({ length: count }, (_, index) => `${name} ${index + 1}`),
  );

export const calls = named(counts);
export const callsWhenLeaving = named({ ...counts, ...leaving });

export const around = (
  some: readonly string[],
  ...whens: readonly Point["when"][]
): readonly Point[] => some.flatMap((call) => whens.map((when) => ({ call, when })));
