// What can be said of this machine alone.

import process from "node:process";
import { parseKeys } from "../../token/keyring.ts";
import type { Io } from "../command.ts";
import { fine, notChecked, reasonOf, wrong } from "./finding.ts";
import type { Finding } from "./finding.ts";
import { keysAtHand } from "./keys-at-hand.ts";
import type { KeysGiven } from "./keys-at-hand.ts";

export function nodeFinding(version: string = process.versions.node): Finding {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  const isEnough = major > 20 || (major === 20 && minor >= 19);
  if (isEnough) return fine("Node", version);
  return wrong("Node", `${version} is too old: 20.19 is the oldest that will do.`);
}

export function keysFinding(given: KeysGiven, env: Io["env"]): Finding {
  try {
    const keys = keysAtHand(given, env);
    if (keys !== undefined) {
      const [first, ...others] = parseKeys(keys.text).opening.keys();
      const more = others.map((id) => `"${id}"`).join(", ");
      return fine("keys", `"${first}" seals${more && `, ${more} opens too`} (${keys.from})`);
    }
  } catch (error) {
    return wrong("keys", reasonOf(error).replace(/^keys: /, ""));
  }
  if (env["NODE_ENV"] === "production") {
    return wrong("keys", "none: set PARLEY_KEYS (make one: npx mcp-parley keys new).");
  }
  return notChecked(
    "keys",
    "none here. A server on this machine makes one up; others need PARLEY_KEYS.",
  );
}
