// Colours and symbols, as far as the terminal can show them.

import process from "node:process";
import { styleText } from "node:util";

type Format = Parameters<typeof styleText>[0];
type Env = Readonly<Record<string, string | undefined>>;

/** Whether to use colours: as NO_COLOR or FORCE_COLOR says, or if the terminal supports them. */
export function hasColour(env: Env, isTerminal: boolean): boolean {
  if (isSet(env["NO_COLOR"])) return false;
  if (env["FORCE_COLOR"] !== undefined) return !["0", "false"].includes(env["FORCE_COLOR"]);
  return isTerminal && env["TERM"] !== "dumb";
}

/** Whether to use symbols outside of ASCII. The Linux console and dumb terminals may not show them. */
export function hasUnicode(env: Env): boolean {
  return env["TERM"] !== "dumb" && env["TERM"] !== "linux";
}

const isSet = (value: string | undefined) => value !== undefined && value !== "";

const isColoured = hasColour(process.env, process.stderr.isTTY);
const isUnicode = hasUnicode(process.env);

const painted =
  (format: Format) =>
  (text: string): string =>
    isColoured ? styleText(format, text, { validateStream: false }) : text;

type Hue = "bold" | "dim" | "red" | "green" | "yellow" | "cyan";
type Sign = "done" | "failed" | "warning" | "you" | "arrow" | "dot" | "full" | "empty" | "none";

/** For messages on standard error. Standard output is never coloured. */
export const style: Readonly<Record<Hue, (text: string) => string>> = {
  bold: painted("bold"),
  dim: painted("dim"),
  red: painted("red"),
  green: painted("green"),
  yellow: painted("yellow"),
  cyan: painted("cyan"),
};

/** The symbols. */
export const signs: Readonly<Record<Sign, string>> = isUnicode
  ? {
      done: "✔",
      failed: "✖",
      warning: "▲",
      you: "↳",
      arrow: "→",
      dot: "·",
      full: "▇",
      empty: "▁",
      none: "–",
    }
  : {
      done: "ok",
      failed: "x",
      warning: "!",
      you: "->",
      arrow: "->",
      dot: "-",
      full: "#",
      empty: ".",
      none: "-",
    };

/** ① to ⑳, then (21). */
export function circled(number: number): string {
  return isUnicode && number >= 1 && number <= 20
    ? String.fromCodePoint(0x2460 + number - 1)
    : `(${number})`;
}
