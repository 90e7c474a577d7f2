// What a runtime runs in the smoke suite: a program that imports the built package, or a Worker with everything inside.

import { cpSync, rmSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";
import type { BuildOptions } from "esbuild";
import { root } from "./package.ts";

/** Writes a program into the folder, in whose `node_modules` the package is. Returns its path. */
export async function writeProgram(
  folder: string,
  entry: string = "test/runtime/serve.ts",
): Promise<string> {
  const source = copied(folder, dirname(entry));
  const outfile = join(folder, "serve.js");
  await build({
    bundle: true,
    packages: "external",
    format: "esm",
    entryPoints: [join(source, basename(entry))],
    outfile,
  });
  return outfile;
}

/** The Workers of the smoke suite: what each keeps, and what this package may add to it, in KiB of gzip. */
export const workers: readonly WorkerProgram[] = [
  { entry: "test/runtime/rounds-worker.ts", keeps: "nothing", mostKiB: 73 },
  { entry: "test/runtime/worker.ts", keeps: "tasks in memory", mostKiB: 136 },
];

/** The example for Cloudflare. */
export const cloudflare: WorkerProgram = {
  entry: "examples/cloudflare/worker.ts",
  keeps: "tasks in a Durable Object",
  mostKiB: 149,
};

/** A Worker, by its path in the repository. */
export interface WorkerProgram {
  readonly entry: string;
  readonly keeps: string;
  readonly mostKiB: number;
}

/** Writes a Worker into the folder. Returns the name of the file. */
export async function writeWorker(folder: string, { entry }: WorkerProgram): Promise<string> {
  const source = copied(folder, dirname(entry));
  const outfile = "worker.js";
  const entryPoints = [join(source, basename(entry))];
  await build({ ...asWorker, entryPoints, outfile: join(folder, outfile) });
  return outfile;
}

/** Copies a folder of the repository, so that what it imports is found in the `node_modules` beside the copy. */
function copied(folder: string, path: string): string {
  const place = join(folder, "source", path);
  rmSync(place, { recursive: true, force: true });
  cpSync(join(root, path), place, { recursive: true });
  return place;
}

/** Writes a Worker of the tests for Cloudflare, and the example that one of them is based on. Returns the name of the file. */
export async function writeCloudflare(
  folder: string,
  worker: "worker" | "tenants-worker" | "people-worker" | "people-tenants-worker",
): Promise<string> {
  copied(folder, "examples/cloudflare");
  const source = copied(folder, "test/runtime");
  const outfile = `cloudflare-${worker}.js`;
  const entry = join(source, `cloudflare/${worker}.ts`);
  await build({ ...asWorker, entryPoints: [entry], outfile: join(folder, outfile) });
  return outfile;
}

/** Writes the Worker that runs the contract of stores, from the source. Returns the name of the file. */
export async function writeContract(folder: string): Promise<string> {
  const outfile = "contract.js";
  const entry = join(root, "test/runtime/cloudflare/contract-worker.ts");
  await build({
    ...asWorker,
    absWorkingDir: root,
    entryPoints: [entry],
    outfile: join(folder, outfile),
  });
  return outfile;
}

const asWorker = {
  bundle: true,
  minify: true,
  format: "esm",
  target: "es2022",
  conditions: ["workerd", "worker", "browser"],
  mainFields: ["module", "main"],
  external: ["node:*", "cloudflare:*"],
  legalComments: "none",
} as const satisfies BuildOptions;

/** How much of a Worker is this package, in KiB of gzip: the Worker without the packages that it needs besides. */
export async function ownKiB(folder: string, { entry }: WorkerProgram): Promise<number> {
  const { outputFiles } = await build({
    ...asWorker,
    entryPoints: [join(copied(folder, dirname(entry)), basename(entry))],
    external: [...asWorker.external, "@modelcontextprotocol/*", "zod"],
    write: false,
  });
  return outputFiles.reduce((sum, { contents }) => sum + gzipSync(contents).length, 0) / 1024;
}
