// The result of one check of `parley doctor`.

import { errorText } from "../../util/error-text.ts";
import { plainText } from "../screen/plain.ts";
import { signs } from "../screen/style.ts";

/** The result of one check. */
export interface Finding {
  /** What was checked: "clock". */
  readonly about: string;
  readonly state: "fine" | "wrong" | "not checked";
  /** What was found and, if it is wrong, what to do. */
  readonly text: string;
}

/** A check that passed. */
export const fine = (about: string, text: string): Finding => ({ about, state: "fine", text });
/** A check that failed. */
export const wrong = (about: string, text: string): Finding => ({ about, state: "wrong", text });
/** A check that could not be made. */
export const notChecked = (about: string, text: string): Finding => ({
  about,
  state: "not checked",
  text,
});

/** A finding on one line. */
export function lineOf({ about, state, text }: Finding): string {
  const sign = { fine: signs.done, wrong: signs.failed, "not checked": signs.none }[state];
  // It may contain text from a server.
  return `${sign} ${about.padEnd(12)} ${plainText(text, 1_000)}`;
}

/** The message of an error, which may contain text from a server. */
export const reasonOf = (error: unknown): string => plainText(errorText(error), 500);
