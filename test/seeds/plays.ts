// Records which printed messages the tests of a file have played, and where they compared loosely. When all tests of the
// file have passed, both must be as noted.

import { afterAll, expect } from "vitest";
import type { RunnerTestFile, RunnerTestSuite } from "vitest";
import { golden, printed } from "./golden.ts";
import type { Message } from "./printed.ts";
import type { Loosening } from "./slips.ts";

const names = new Set<string>();
const loose = new Map<string, Set<string>>();

/** A message that this test sends, or compares a response with. */
export function played(name: string): Message {
  names.add(name);
  return golden(name);
}

/** Notes that this part of the message is compared loosely. */
export function loosened(what: string, name: string): void {
  loose.set(what, (loose.get(what) ?? new Set()).add(name));
}

/** `unplayed` lists the messages that are not played, and why. Nothing is checked if only some of the tests run. */
export function expectAsNoted(
  unplayed: Readonly<Record<string, string>>,
  loosenings: readonly Loosening[],
): void {
  // oxlint-disable-next-line no-empty-pattern -- vitest wants its first argument taken apart
  afterAll(({}, file) => {
    if (!isPassed(file)) return;
    const missing = printed.map(({ name }) => name).filter((name) => !names.has(name));
    expect(missing).toEqual(Object.keys(unplayed));
    const found = [...loose].map(([what, messages]) => [what, [...messages].toSorted()]);
    expect(Object.fromEntries(found)).toEqual(
      Object.fromEntries(loosenings.map(({ what, messages }) => [what, [...messages].toSorted()])),
    );
  });
}

function isPassed({ tasks }: Readonly<RunnerTestFile | RunnerTestSuite>): boolean {
  return tasks.every((task) =>
    task.type === "suite" ? isPassed(task) : task.result?.state === "pass",
  );
}
