// The keys that a command uses: from an option, a file, PARLEY_KEYS, or the development server.

import { existsSync, readFileSync, statSync } from "node:fs";
import process from "node:process";
import type { Io } from "../command.ts";
import { UsageError } from "../command.ts";
import { parseKeys } from "../../token/keyring.ts";
import type { Keyring } from "../../token/keyring.ts";
import { errorText } from "../../util/error-text.ts";
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
  /** A reason not to rely on them, and what to do. */
  readonly warning?: string | undefined;
}

/** The file of the development server. Any server that runs in a folder without PARLEY_KEYS leaves one there. */
export const ofDevelopment = ".parley/keys";

/** The keys that a person has set, or undefined if there are none. */
export function givenKeys(given: KeysGiven, env: Io["env"]): AvailableKeys | undefined {
  const { key, "keys-file": file } = given;
  if (key !== undefined) return { text: key, from: "--key" };
  if (file !== undefined) return { text: textOf(file), from: file };
  const { PARLEY_KEYS = "" } = env;
  if (PARLEY_KEYS.trim() !== "") return { text: PARLEY_KEYS, from: "PARLEY_KEYS" };
  return undefined;
}

/** The keys that a person has set, or else those of the development server. */
export function availableKeys(given: KeysGiven, env: Io["env"]): AvailableKeys | undefined {
  const keys = givenKeys(given, env);
  if (keys !== undefined || !existsSync(ofDevelopment)) return keys;
  const isShared = process.platform !== "win32" && (statSync(ofDevelopment).mode & 0o077) !== 0;
  return {
    text: textOf(ofDevelopment),
    from: ofDevelopment,
    ...(isShared && { warning: sharedKeys }),
  };
}

/**
 * The development server writes a file that only its user can read. This one came from elsewhere, perhaps with a
 * repository.
 */
const sharedKeys = `${ofDevelopment} can be read by other users, so others may know its key. Delete it, and restart the server to get a new one.`;

/** Parses keys. The message of an error says where they come from: "PARLEY_KEYS: entry 1 has no key id." */
export function keyringOf({ text, from }: Pick<AvailableKeys, "text" | "from">): Keyring {
  try {
    return parseKeys(text);
  } catch (error) {
    throw new Error(`${from}: ${errorText(error).replace(/^keys: /, "")}`, { cause: error });
  }
}

function textOf(file: string): string {
  try {
    return readFileSync(file, "utf8").trim();
  } catch (error) {
    throw new UsageError(`Cannot read ${file}: ${reasonOf(error)}`);
  }
}
