// One thing that was looked at.

import { signs } from "../style.ts";

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
  const sign = { fine: signs.done, wrong: signs.failed, "not checked": "–" }[state];
  return `${sign} ${about.padEnd(12)} ${text}`;
}

export function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
