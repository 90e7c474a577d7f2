// Where the official suite is: in its own folder under node_modules/.cache, where the first test that needs it installs
// it. It is not a dependency of this project, because it brings 120 packages and needs a newer Node.

import { execFile } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import process from "node:process";
import { promisify } from "node:util";
import { nodeIn, nodePackage } from "../../scripts/node-package.ts";

/** Not alpha.11, which rejects correct tasks. Another version may require other things, so raise it with care. */
const suite = "@modelcontextprotocol/conformance@0.2.0-alpha.12";
const patienceMs = 240_000;

export interface Suite {
  /** A Node that can run it. */
  readonly node: string;
  /** The package's folder. */
  readonly folder: string;
}

export async function installedSuite(): Promise<Suite> {
  const runtime = ownNodeWillDo() ? undefined : nodePackage();
  const wanted = runtime === undefined ? [suite] : [suite, `${runtime}@24`];
  const cache = resolve(import.meta.dirname, "../../node_modules/.cache/parley-conformance");
  const folder = join(cache, wanted.join("+").replaceAll(/[^\w.@+-]/g, "-"));
  if (!existsSync(folder)) await install(wanted, folder);
  const modules = join(folder, "node_modules");
  return {
    node: runtime === undefined ? process.execPath : nodeIn(modules),
    folder: join(modules, "@modelcontextprotocol/conformance"),
  };
}

/** The suite uses `fs.globSync`. */
function ownNodeWillDo(): boolean {
  return Number.parseInt(process.versions.node, 10) >= 22;
}

/** Installs next to the final place and then moves the folder. If two processes install at once, the later one discards its copy. */
async function install(wanted: readonly string[], folder: string): Promise<void> {
  mkdirSync(resolve(folder, ".."), { recursive: true });
  const own = mkdtempSync(`${folder}.`);
  try {
    writeFileSync(join(own, "package.json"), '{ "private": true }\n');
    await npm(
      ["install", "--prefix", own, "--ignore-scripts", "--no-audit", "--no-fund", ...wanted],
      own,
    );
    if (!existsSync(folder)) renameSync(own, folder);
  } catch (error) {
    if (!existsSync(folder)) throw error;
  } finally {
    rmSync(own, { recursive: true, force: true });
  }
}

async function npm(args: readonly string[], cwd: string): Promise<void> {
  // On Windows npm is a batch file, which only a shell can run.
  const shell = process.platform === "win32";
  try {
    await promisify(execFile)("npm", args, { cwd, timeout: patienceMs, shell });
  } catch (cause) {
    throw new Error(
      `The conformance suite could not be installed. Installing it once needs a package registry. This failed: npm ${args.join(" ")}`,
      { cause },
    );
  }
}
