// The person's own folder for this command. Unlike the current folder, only this person writes to it: not even a repository
// that was cloned.

import { homedir } from "node:os";
import { join } from "node:path";

/** The path of the folder. */
export function configFolder(env: Readonly<Record<string, string | undefined>>): string {
  const parent = env["XDG_CONFIG_HOME"] ?? env["APPDATA"] ?? join(homedir(), ".config");
  return join(parent, "parley");
}
