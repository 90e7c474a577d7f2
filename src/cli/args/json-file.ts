// A JSON object from a file, or from standard input.

import { readFileSync } from "node:fs";
import { errorText } from "../../util/error-text.ts";
import { isObject } from "../../util/objects.ts";
import type { Members } from "../../util/objects.ts";
import { Usage } from "../command.ts";

/** `what` is in it, for a sentence: "the arguments". */
export function jsonIn(file: string, what: string): Members {
  let raw: unknown;
  try {
    raw = JSON.parse(readFileSync(file === "-" ? 0 : file, "utf8"));
  } catch (error) {
    throw new Usage(`${file}, for ${what}, cannot be read: ${errorText(error)}`);
  }
  if (isObject(raw)) return raw;
  throw new Usage(`${file} should hold one JSON object: ${what}, each by its name.`);
}
