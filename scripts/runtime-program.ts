// What a runtime runs in the smoke suite: a program that imports the built package, or a Worker with everything inside.

import { cpSync, rmSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";
import type { BuildOptions } from "esbuild";
import { root } from "./package.ts";

/** Writes the program into the folder, in whose `node_modules` the package is. Returns its path. */
export async function writeProgram(folder: string, isWorker: boolean): Promise<string> {
  const source = copied(folder, "test/runtime");
  const outfile = join(folder, isWorker ? "worker.js" : "serve.js");
  await build(
    isWorker
      ? { ...asWorker, entryPoints: [join(source, "worker.ts")], outfile }
      : {
          bundle: true,
          packages: "external",
          format: "esm",
          entryPoints: [join(source, "serve.ts")],
          outfile,
        },
  );
  return outfile;
}

/** Copies a folder of the repository, so that what it imports is found in the `node_modules` beside the copy. */
function copied(folder: string, path: string): string {
  const place = join(folder, "source", path);
  rmSync(place, { recursive: true, force: true });
  cpSync(join(root, path), place, { recursive: true });
  return place;
}

/** Writes the example for Cloudflare with what its test adds. Returns the name of the file. */
export async function writeCloudflare(folder: string): Promise<string> {
  copied(folder, "examples/cloudflare");
  const outfile = "cloudflare.js";
  const entry = join(folder, "source/test/runtime/cloudflare/worker.ts");
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

/** How much of a Worker is this package, in KiB of gzip: the Worker without the official SDK. */
export async function ownKiB(folder: string): Promise<number> {
  const { outputFiles } = await build({
    ...asWorker,
    entryPoints: [join(folder, "source/test/runtime/worker.ts")],
    external: [...asWorker.external, "@modelcontextprotocol/*"],
    write: false,
  });
  return outputFiles.reduce((sum, { contents }) => sum + gzipSync(contents).length, 0) / 1024;
}
