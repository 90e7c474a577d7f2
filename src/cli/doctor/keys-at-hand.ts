// The keys a command is to use: given, in a file, in PARLEY_KEYS, or those of development.

import { existsSync, readFileSync } from "node:fs";
import type { Io } from "../command.ts";
import { Usage } from "../command.ts";
import { reasonOf } from "./finding.ts";

export interface KeysGiven {
  readonly key?: string | undefined;
  readonly "keys-file"?: string | undefined;
}

export interface KeysAtHand {
  readonly text: string;
  /** For a sentence: "PARLEY_KEYS". */
  readonly from: string;
}

const ofDevelopment = ".parley/keys";

/** Undefined: there are none. */
export function keysAtHand(given: KeysGiven, env: Io["env"]): KeysAtHand | undefined {
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
    throw new Usage(`${file} cannot be read: ${reasonOf(error)}`);
  }
}
