// The keys that a command uses: from an option, a file, PARLEY_KEYS, or the development server.

import { existsSync, readFileSync } from "node:fs";
import type { Io } from "../command.ts";
import { UsageError } from "../command.ts";
import { reasonOf } from "./finding.ts";

/** The options that name keys. */
export interface KeysGiven {
  readonly key?: string | undefined;
  readonly "keys-file"?: string | undefined;
}

/** Keys, and where they come from. */
export interface AvailableKeys {
  readonly text: string;
  /** The source, for a message: "PARLEY_KEYS". */
  readonly from: string;
}

const ofDevelopment = ".parley/keys";

/** The keys, or undefined if there are none. */
export function availableKeys(given: KeysGiven, env: Io["env"]): AvailableKeys | undefined {
  const { key, "keys-file": file } = given;
  if (key !== undefined) return { text: key, from: "--key" };
  if (file !== undefined) return { text: textOf(file), from: file };
  const { PARLEY_KEYS = "" } = env;
  if (PARLEY_KEYS.trim() !== "") return { text: PARLEY_KEYS, from: "PARLEY_KEYS" };
  if (existsSync(ofDevelopment)) return { text: textOf(ofDevelopment), from: ofDevelopment };
  return undefined;
}

function textOf(file: string): string {
  try {
    return readFileSync(file, "utf8").trim();
  } catch (error) {
    throw new UsageError(`Cannot read ${file}: ${reasonOf(error)}`);
  }
}
