// Where the keys come from: the `keys` option, the PARLEY_KEYS variable, or a key for development.

import { dirname, join } from "node:path";
import { ParleyError } from "../../errors.ts";
import { newKey, parseKeys } from "../../token/keyring.ts";
import type { Keyring } from "../../token/keyring.ts";
import { errorText } from "../../util/error-text.ts";

/** Only development needs files. */
const fs = () => process.getBuiltinModule("node:fs");

/** What decides which keys an app uses. */
export interface KeySource {
  readonly keys: string | readonly string[] | undefined;
  /** How the app is served, for the message: `app.fetch`, `app.listen on 0.0.0.0`. */
  readonly way: string;
  /** Only this machine can reach the app, so a generated key is safe in development. */
  readonly isLocal: boolean;
}

/**
 * Throws ParleyError "no_keys" if there is no key. A key that each instance generates for itself is not enough, because
 * no instance could open the tokens of another.
 */
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
    "There is no key to seal state with. Set PARLEY_KEYS to the same value on every instance, or pass parley({ keys }). To make a key, run npx mcp-parley keys new.\n" +
      `A key is generated only in development, ${environment === "production" ? "and NODE_ENV is production" : `by app.listen on a loopback address and by app.stdio. This is ${way}`}.`,
  );
}

/** Kept in a file, so that unfinished calls survive a restart of the server. */
function developmentKey(): string {
  const file = join(process.cwd(), ".parley/keys");
  try {
    if (fs().existsSync(file)) {
      warnIfShared(file);
      return fs().readFileSync(file, "utf8");
    }
    const key = newKey("dev");
    fs().mkdirSync(dirname(file), { recursive: true });
    fs().writeFileSync(join(dirname(file), ".gitignore"), "*\n");
    return savedKey(file, key);
  } catch (cause) {
    // Desktop clients start a server in a folder that it may not write to. The key then lives as long as this process.
    process.stderr.write(
      `parley warn: the development key cannot be saved (${errorText(cause)})\n`,
    );
    return newKey("dev");
  }
}

/**
 * This library writes a file that only its user can read. A file that others can read came from elsewhere, perhaps with
 * a repository.
 */
function warnIfShared(file: string): void {
  if (process.platform === "win32" || (fs().statSync(file).mode & 0o077) === 0) return;
  process.stderr.write(
    `parley warn: ${file} can be read by other users, so others may know the development key. Delete it, and a new key is made at the next start.\n`,
  );
}

function savedKey(file: string, key: string): string {
  try {
    fs().writeFileSync(file, `${key}\n`, { mode: 0o600, flag: "wx" });
    return key;
  } catch (error) {
    // Another process has just written its key, so that key is used.
    if (fs().existsSync(file)) return fs().readFileSync(file, "utf8");
    throw error;
  }
}
