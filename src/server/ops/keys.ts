// Where the keys come from.

import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { ParleyError } from "../../errors.ts";
import { newKey, parseKeys } from "../../token/keyring.ts";
import type { Keyring } from "../../token/keyring.ts";

export interface KeySource {
  readonly keys: string | readonly string[] | undefined;
  /** How the app is served, for the message: `app.fetch`, `app.listen on 0.0.0.0`. */
  readonly way: string;
  /** One process on this machine serves it, and in development: a made-up key does no harm. */
  readonly isLocal: boolean;
}

/** The option, PARLEY_KEYS, or a key that is made up once and kept; anything else would break every second round on two instances. */
export function resolveKeys({
  keys = process.env["PARLEY_KEYS"],
  way,
  isLocal,
}: KeySource): Keyring {
  if (keys !== undefined && String(keys).trim() !== "") return parseKeys(keys);
  const environment = process.env["NODE_ENV"];
  if (isLocal && environment !== "production") return parseKeys(developmentKey());
  throw new ParleyError(
    "no_keys",
    "No key to seal state with. Set PARLEY_KEYS to the same value on every instance (make one: npx mcp-parley keys new), or pass parley({ keys }).\n" +
      `A key is made up only in development on this machine; this is ${way} with NODE_ENV ${environment ?? "unset"}.`,
  );
}

/** Kept, so that calls under way survive a restart of the server that is being worked on. */
function developmentKey(): string {
  const file = join(process.cwd(), ".parley/keys");
  try {
    if (existsSync(file)) return readFileSync(file, "utf8");
    const key = newKey("dev");
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(join(dirname(file), ".gitignore"), "*\n");
    return kept(file, key);
  } catch (cause) {
    // Started from a folder that is not its own, as desktop clients do: good for as long as this process lives.
    const why = cause instanceof Error ? cause.message : String(cause);
    process.stderr.write(`parley warn: the development key cannot be kept (${why})\n`);
    return newKey("dev");
  }
}

function kept(file: string, key: string): string {
  try {
    writeFileSync(file, `${key}\n`, { mode: 0o600, flag: "wx" });
    return key;
  } catch (error) {
    // Another process was faster: its key is the one.
    if (existsSync(file)) return readFileSync(file, "utf8");
    throw error;
  }
}
