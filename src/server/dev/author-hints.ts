// What development says once about a tool, before it becomes a problem.

import { packEntry } from "../../replay/journal.ts";
import type { Entry } from "../../replay/journal.ts";
import type { Core } from "../core.ts";
import type { Definition } from "../define/definition.ts";

const given = new WeakMap<Definition, Set<string>>();

function hint(core: Core, definition: Definition, topic: string, message: () => string): void {
  if (!core.environment.isDevelopment) return;
  const topics = given.get(definition) ?? new Set();
  if (topics.has(topic)) return;
  given.set(definition, topics.add(topic));
  core.logger.warn(message(), { handler: definition.name });
}

/** Legal, but easily a mistake: it is repeated in every round, and in parallel with a question it costs one. */
export function hintAtIdling(core: Core, definition: Definition): void {
  hint(
    core,
    definition,
    "idle",
    () =>
      `"${definition.name}" waits for something that is not an operation of ctx. It is done again in every round: put it in a ctx.step.`,
  );
}

/** The tool was edited, or uses something that changes, while a call was between two rounds (R7). */
export function hintAtChange(
  core: Core,
  definition: Definition,
  before: readonly Entry[],
  entries: readonly Entry[],
): void {
  if (!core.environment.isDevelopment) return;
  const isNew = ({ kind, key }: Entry) =>
    kind === "changed" && !before.some((one) => one.kind === kind && one.key === key);
  for (const { key } of entries.filter(isNew)) {
    hint(
      core,
      definition,
      `changed ${key}`,
      () =>
        `Question "${key}" of "${definition.name}" reads otherwise than when it was put: it is put again. ` +
        "Where nobody has changed the code, its text holds something that changes (a time, data from outside): get that in a ctx.step first.",
    );
  }
}

const largeJournal = 8 * 1024;
// The official client stops at 10 rounds, its shim for older sessions at 8.
const manyRounds = 8;

export function hintAtSize(
  core: Core,
  definition: Definition,
  round: number,
  entries: readonly Entry[],
): void {
  if (!core.environment.isDevelopment) return;
  if (round >= manyRounds) {
    hint(
      core,
      definition,
      "rounds",
      () =>
        `"${definition.name}" asks for the ${round}th time in one call. The official client gives up after 10 rounds, and after 8 in a 2025-11-25 session: ask together what can be asked together (Promise.all).`,
    );
  }
  const sizes = largestEntries(entries);
  const total = sizes.reduce((sum, { bytes }) => sum + bytes, 0);
  const [largest] = sizes;
  if (total > largeJournal && largest !== undefined) {
    hint(
      core,
      definition,
      "size",
      () =>
        `"${definition.name}" remembers ${kib(total)} between rounds, most of it in ${largest.title} (${kib(largest.bytes)}). It travels twice a round: keep ids instead of contents.`,
    );
  }
}

export function largestEntries(
  entries: readonly Entry[],
): { readonly title: string; readonly bytes: number }[] {
  return entries
    .map((entry) => ({
      title: `${entry.kind === "answer" ? "question" : "step"} "${entry.key}"`,
      bytes: JSON.stringify(packEntry(entry)).length,
    }))
    .toSorted((one, other) => other.bytes - one.bytes);
}

export const kib = (bytes: number): string => `${Math.ceil(bytes / 1024)} KiB`;
