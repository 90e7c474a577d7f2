// The person's own folder for this command. Only this person writes to it. A cloned repository can bring files into the
// current folder, but not into this one.

import { homedir } from "node:os";
import { join } from "node:path";

/** The path of the folder. */
export function configFolder(env: Readonly<Record<string, string | undefined>>): string {
  const parent = env["XDG_CONFIG_HOME"] ?? env["APPDATA"] ?? join(homedir(), ".config");
  return join(parent, "parley");
}
