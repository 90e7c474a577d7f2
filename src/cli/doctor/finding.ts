// One thing that was looked at.

import { errorText } from "../../util/error-text.ts";
import { plainText } from "../screen/plain.ts";
import { signs } from "../screen/style.ts";

export interface Finding {
  /** "clock" */
  readonly about: string;
  readonly state: "fine" | "wrong" | "not checked";
  /** What was found; where it is wrong, also what to do. */
  readonly text: string;
}

export const fine = (about: string, text: string): Finding => ({ about, state: "fine", text });
export const wrong = (about: string, text: string): Finding => ({ about, state: "wrong", text });
export const notChecked = (about: string, text: string): Finding => ({
  about,
  state: "not checked",
  text,
});

export function lineOf({ about, state, text }: Finding): string {
  const sign = { fine: signs.done, wrong: signs.failed, "not checked": signs.none }[state];
  return `${sign} ${about.padEnd(12)} ${text}`;
}

/** A server may have had its say in it. */
export const reasonOf = (error: unknown): string => plainText(errorText(error), 500);
