// The points at which the first engine of an errand can die.

import type { Point } from "./life.ts";

/**
 * The store calls of an engine that runs an errand, by name. They are written out and a test compares them with the
 * engine, so that the enumeration cannot shrink unnoticed.
 */
const counts = {
  migrate: 1,
  // One renewal at the start, and one that brings the answer to the run that is under way.
  renew: 2,
  sweep: 1,
  create: 1,
  // There are eight waits, and an answer, a timer or a delivery ends each of them. The invalid answer has no entry. Four entries
  // of answers are written with another write.
  claim: 8,
  park: 8,
  append: 8,
  report: 1,
  publish: 2,
  finish: 1,
};

/** The calls of an engine that drains during the last step but one. They are the same up to there. */
const leaving = { renew: 1, append: 5, publish: 1, finish: 0, release: 1, leave: 1 };

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
