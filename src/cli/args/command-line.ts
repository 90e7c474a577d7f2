// Reads a command line: options, the command of a server after `--`, JSON files, and suggestions for misspelt words.

import { parseArgs } from "node:util";
import type { ParseArgsConfig } from "node:util";
import { errorText } from "../../util/error-text.ts";
import { UsageError } from "../command.ts";
import { readFileSync } from "node:fs";
import { isObject } from "../../util/objects.ts";
import type { Members } from "../../util/objects.ts";

type Options = NonNullable<ParseArgsConfig["options"]>;
type Parsed<O extends Options> = ReturnType<
  typeof parseArgs<{ args: string[]; options: O; allowPositionals: true }>
>;

/** Parses the words after a command's name. Throws a `UsageError` that says which word is wrong. */
export function parseOptions<const O extends Options>(
  command: string,
  args: readonly string[],
  options: O,
): Parsed<O> {
  try {
    return parseArgs({ args: [...args], options, allowPositionals: true });
  } catch (error) {
    const message = errorText(error);
    // The first sentence of Node says what is wrong. The rest explains how to escape words.
    throw new UsageError(`${command}: ${message.split(". ")[0] ?? message}`);
  }
}

/** Splits a command line at `--`: our own words, and the command of a server. */
export function splitAtDashes(args: readonly string[]): {
  readonly own: readonly string[];
  readonly command: readonly string[];
} {
  const split = args.indexOf("--");
  if (split === -1) return { own: args, command: [] };
  return { own: args.slice(0, split), command: args.slice(split + 1) };
}

/** Reads a JSON object from a file, or from standard input for `-`. `what` names its content: "the arguments". */
export function readJsonObject(file: string, what: string): Members {
  let raw: unknown;
  try {
    raw = JSON.parse(readFileSync(file === "-" ? 0 : file, "utf8"));
  } catch (error) {
    throw new UsageError(`Cannot read ${what} from ${file}: ${errorText(error)}`);
  }
  if (isObject(raw)) return raw;
  throw new UsageError(`${file} must contain one JSON object with ${what} by name.`);
}

/** Ends a sentence: with a full stop, and with a suggestion if a known word is similar. */
export function didYouMean(word: string, known: readonly string[]): string {
  const ranked = known
    .map((candidate) => ({ candidate, edits: distance(word, candidate) }))
    .toSorted((a, b) => a.edits - b.edits);
  const [best] = ranked;
  const isNear = best !== undefined && best.edits <= Math.max(2, Math.floor(word.length / 3));
  return isNear ? `. Did you mean "${best.candidate}"?` : ".";
}

/** How many letters have to be added, dropped, changed or swapped (optimal string alignment). */
function distance(a: string, b: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i += 1) {
    const row = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const isSame = a[i - 1] === b[j - 1];
      let edits = Math.min(
        (last[j] ?? 0) + 1,
        (row[j - 1] ?? 0) + 1,
        (last[j - 1] ?? 0) + (isSame ? 0 : 1),
      );
      const isSwap = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      if (isSwap) edits = Math.min(edits, (beforeLast[j - 2] ?? 0) + 1);
      row[j] = edits;
    }
    beforeLast = last;
    last = row;
  }
  return last[b.length] ?? 0;
}
