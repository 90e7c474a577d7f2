// What a handler receives, as text. The handler and the log give the same text for the same thing.

import { StepError, UnansweredError } from "../../src/errors.ts";
import { nonceIn } from "./stream-text.ts";
import type { Entry } from "../../src/replay/journal.ts";

export const told = {
  answer: (value: unknown): string => `answer ${String(value)}`,
  step: (value: unknown): string => `value ${String(value)}`,
  /** The attempt that a streamed text is from. */
  stream: (value: unknown): string => `value ${nonceIn(value)}`,
  threw: (message: string): string => `threw ${message}`,
  expired: "expired",
  timer: "over",
};

export function errorTold(error: unknown): string {
  if (error instanceof UnansweredError) return told.expired;
  if (error instanceof StepError) return told.threw(error.message);
  return `unexpected ${String(error)}`;
}

/** Undefined if no handler receives it. */
export function entryTold(entry: Entry): { key: string; value: string } | undefined {
  const { key } = entry;
  switch (entry.kind) {
    case "answer":
      return { key, value: told.answer(entry.value) };
    case "expired":
      return { key, value: told.expired };
    case "step":
      return {
        key,
        value: entry.isStream === true ? told.stream(entry.value) : told.step(entry.value),
      };
    case "threw":
      return { key, value: told.threw(entry.error.message) };
    case "timer":
      return { key, value: told.timer };
    case "background":
    case "checkpoint":
    case "changed":
    case "begun":
    case "patched":
      return undefined;
  }
}
