// Hints for the author of a handler, logged in development: once for each handler and topic, before it becomes a problem.

import { packEntry } from "../../replay/journal.ts";
import type { Entry } from "../../replay/journal.ts";
import type { Core } from "../core.ts";
import type { Definition } from "../define/definition.ts";

const givenTopics = new WeakMap<Definition, Set<string>>();

function hint(
  core: Core,
  definition: Definition,
  call: string,
  topic: string,
  message: () => string,
): void {
  if (!core.environment.isDevelopment) return;
  const topics = givenTopics.get(definition) ?? new Set();
  if (topics.has(topic)) return;
  givenTopics.set(definition, topics.add(topic));
  // `parley dev` recognises the topic.
  const [name] = topic.split(" ");
  core.logger.warn(message(), { handler: definition.name, call, hint: name });
}

/** An adopted tool asks a question. Its author wrote it for a protocol that ran it once. */
export function hintAtAdoption(core: Core, definition: Definition, call: string): void {
  hint(
    core,
    definition,
    call,
    "adopted",
    () =>
      `"${definition.name}" is adopted and asks a question, so it runs from its beginning in each round, and what it does before a question is repeated. ` +
      "Let it ask first and act after its last question, or register it with app.tool and put each effect in a ctx.step.",
  );
}

/** The handler awaits something that is not an operation of `ctx`. That is legal, but it is repeated in every round. */
export function hintAtIdling(core: Core, definition: Definition, call: string): void {
  // An adopted tool has no `ctx` to use, and gets a hint of its own when it asks.
  if (definition.isAdopted === true) return;
  hint(
    core,
    definition,
    call,
    "idle",
    () =>
      `"${definition.name}" awaits something that is not an operation of ctx. It runs again in every round. Put it in a ctx.step.`,
  );
}

/** A question's text has changed between two rounds of a call: the code was edited, or the text contains something that changes (R7). */
export function hintAtChange(
  core: Core,
  definition: Definition,
  call: string,
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
      call,
      `changed ${key}`,
      () =>
        `Question "${key}" of "${definition.name}" has changed since it was asked, so it is asked again. ` +
        "If you did not edit the code, its text contains something that changes, such as a time or data from outside. Get that in a ctx.step first.",
    );
  }
}

const largeJournal = 8 * 1024;
// The official client stops after 10 rounds, and the SDK's shim for 2025-11-25 sessions after 8.
const manyRounds = 8;

/** The call takes many rounds, or its state has grown large. */
export function hintAtSize(
  core: Core,
  definition: Definition,
  call: string,
  round: number,
  entries: readonly Entry[],
): void {
  if (!core.environment.isDevelopment) return;
  if (round >= manyRounds) {
    hint(
      core,
      definition,
      call,
      "rounds",
      () =>
        `"${definition.name}" asks for the ${round}th time in one call. The official client gives up after 10 rounds, and after 8 in a 2025-11-25 session. Ask several questions at once with Promise.all.`,
    );
  }
  const sizes = largestEntries(entries);
  const total = sizes.reduce((sum, { bytes }) => sum + bytes, 0);
  const [largest] = sizes;
  if (total > largeJournal && largest !== undefined) {
    hint(
      core,
      definition,
      call,
      "size",
      () =>
        `"${definition.name}" keeps ${kib(total)} between rounds, most of it in ${largest.title} (${kib(largest.bytes)}). It travels twice in each round. Return ids instead of contents.`,
    );
  }
}

/** The entries by size, largest first. */
export function largestEntries(
  entries: readonly Entry[],
): { readonly title: string; readonly bytes: number }[] {
  return entries
    .map((entry) => ({
      title: `${wordFor(entry)} "${entry.key}"`,
      bytes: JSON.stringify(packEntry(entry)).length,
    }))
    .toSorted((one, other) => other.bytes - one.bytes);
}

function wordFor(entry: Entry): string {
  if (entry.kind === "answer") return "question";
  return entry.kind === "step" && entry.isStream === true ? "stream" : "step";
}

/** A size in words, such as "12 KiB". */
export const kib = (bytes: number): string => `${Math.ceil(bytes / 1024)} KiB`;
