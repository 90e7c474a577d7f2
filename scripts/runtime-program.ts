// What a runtime runs in the smoke suite: a program that imports the built package, or a Worker with everything inside.

import { cpSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";
import type { BuildOptions } from "esbuild";
import { root } from "./package.ts";

/** Writes the program into the folder, in whose `node_modules` the package is. Returns its path. */
export async function writeProgram(folder: string, isWorker: boolean): Promise<string> {
  const source = join(folder, "source");
  mkdirSync(source, { recursive: true });
  cpSync(join(root, "test/runtime"), source, { recursive: true });
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
    entryPoints: [join(folder, "source/worker.ts")],
    external: [...asWorker.external, "@modelcontextprotocol/*"],
    write: false,
  });
  return outputFiles.reduce((sum, { contents }) => sum + gzipSync(contents).length, 0) / 1024;
}
