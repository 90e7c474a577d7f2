// Files of this package that the command finds by their path. Where they are depends on what runs: the source, the same
// compiled file by file, or the bundle, which scripts/build.ts writes into one folder.

import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

const besideThis = (file: string) => join(import.meta.dirname, file);

function firstOf(files: readonly string[]): string {
  const found = files.map(besideThis).find((file) => existsSync(file));
  if (found === undefined) throw new Error(`None of these files is installed: ${files.join(", ")}`);
  return found;
}

/** The program of one replica of the demo. */
export const demoReplica = (): string =>
  firstOf(["demo-replica.js", "demo/replica.js", "demo/replica.ts"]);

/** The tool that the demo calls, for people to read. */
export const demoTool = (): string => firstOf(["demo-tool.js", "demo/tool.js", "demo/tool.ts"]);

/** The parts of this package's manifest that the command uses. */
export interface OwnManifest {
  readonly version: string;
  readonly devDependencies: Readonly<Record<string, string>>;
}

/** Reads the manifest of this package. */
export function ownManifest(): OwnManifest {
  return JSON.parse(readFileSync(besideThis("../../package.json"), "utf8"));
}
