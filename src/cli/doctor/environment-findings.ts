// Checks of this machine: Node and the keys.

import process from "node:process";
import type { Io } from "../command.ts";
import { fine, notChecked, reasonOf, wrong } from "./finding.ts";
import type { Finding } from "./finding.ts";
import { availableKeys, keyringOf } from "./available-keys.ts";
import type { KeysGiven } from "./available-keys.ts";

/** Whether Node is new enough. */
export function nodeFinding(version: string = process.versions.node): Finding {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  const isEnough = major > 20 || (major === 20 && minor >= 19);
  if (isEnough) return fine("Node", version);
  return wrong("Node", `${version} is too old. Install 20.19 or later.`);
}

/** Whether there are keys, and which. */
export function keysFinding(given: KeysGiven, env: Io["env"]): Finding {
  try {
    const keys = availableKeys(given, env);
    if (keys !== undefined) {
      if (keys.warning !== undefined) return wrong("keys", keys.warning);
      const [first, ...others] = keyringOf(keys).opening.keys();
      const more = others.map((id) => `"${id}"`).join(", ");
      return fine("keys", `"${first}" seals${more && `, ${more} only opens`} (${keys.from})`);
    }
  } catch (error) {
    return wrong("keys", reasonOf(error));
  }
  if (env["NODE_ENV"] === "production") {
    return wrong("keys", "none. Set PARLEY_KEYS to a key from npx mcp-parley keys new.");
  }
  return notChecked(
    "keys",
    "none in this shell. A server elsewhere has its own, and one in development creates its own; in production, set PARLEY_KEYS.",
  );
}
