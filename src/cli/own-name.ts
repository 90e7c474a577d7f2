// What to type to run this command again. Messages name it, and most people have it through npx, where no `parley` is on the
// PATH. Elsewhere npx would fetch another package of that name.

import { existsSync } from "node:fs";
import { delimiter, join, relative } from "node:path";
import process from "node:process";
import type { Io } from "./command.ts";
import { sourceOfCommand } from "./own-files.ts";

/** How this command is started here: "parley", "npx mcp-parley" or, in a clone, "npx tsx src/cli/main.ts". */
export function ownName(env: Io["env"], source: string = sourceOfCommand ?? ""): string {
  const isThroughNpm = [env["npm_command"], env["npm_execpath"], env["npm_lifecycle_event"]].some(
    (one) => one !== undefined && one !== "",
  );
  if (!isThroughNpm && isOnPath(env["PATH"] ?? env["Path"] ?? "")) return "parley";
  return source === "" ? "npx mcp-parley" : `npx tsx ${relative(process.cwd(), source)}`;
}

/** On Windows, npm puts a file for each shell beside the one without an extension. */
const isOnPath = (path: string): boolean =>
  path.split(delimiter).some((folder) => folder !== "" && existsSync(join(folder, "parley")));

const words =
  "call|resume|tasks|audit|list|prompt|read|demo|dev|init|keys|token|worker|doctor|console|migrate";
const ofCommand = new RegExp(`(?<![\\w-])parley (?=(?:${words})\\b)`, "g");

/** A message of this command, with its commands as they are typed here: "parley tasks ls" becomes "npx mcp-parley tasks ls". */
export const asTyped = (message: string, env: Io["env"]): string =>
  message.replace(ofCommand, `${ownName(env)} `);
