// Files of this package that the command finds by their path. The build merges the command's files, so they are looked
// for from the root of the package.

import { existsSync, readFileSync } from "node:fs";
import { dirname, extname, join, sep } from "node:path";

const root = packageRoot(import.meta.dirname);
const isBuilt = !import.meta.dirname.includes(join(sep, "src", "cli"));

function packageRoot(folder: string): string {
  return existsSync(join(folder, "package.json")) ? folder : packageRoot(dirname(folder));
}

const ownFile = (built: string, source: string) =>
  join(root, isBuilt ? built : `${source}${extname(import.meta.filename)}`);

/** The file that starts the command, in a clone. Undefined in the package. */
export const sourceOfCommand: string | undefined = isBuilt
  ? undefined
  : ownFile("dist/cli.js", "src/cli/main");

/** The program of one replica of the demo. */
export const demoReplica: string = ownFile("dist/cli/demo-replica.js", "src/cli/demo/replica");

/** The tool that the demo calls, for people to read. */
export const demoTool: string = ownFile("dist/cli/demo-tool.js", "src/cli/demo/tool");

/** The parts of this package's manifest that the command uses. */
export interface OwnManifest {
  readonly version: string;
  readonly devDependencies: Readonly<Record<string, string>>;
}

/** Reads the manifest of this package. */
export function ownManifest(): OwnManifest {
  return JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
}
