// Bundles the page when the console is run from its sources. scripts/build.ts puts the outcome in place of this file.

import { join } from "node:path";
import { promisify } from "node:util";
import { brotliCompress } from "node:zlib";

/** The files of the page, compressed with Brotli. */
export interface PackedPage {
  readonly js: Uint8Array;
  readonly css: Uint8Array;
}

let bundled: Promise<PackedPage> | undefined;

/** Bundles the page, once. */
export function packedPage(): Promise<PackedPage> {
  bundled ??= bundle();
  return bundled;
}

async function bundle(): Promise<PackedPage> {
  const { build } = await import("esbuild");
  const { outputFiles } = await build({
    entryPoints: [join(import.meta.dirname, "page/main.tsx")],
    outdir: "page",
    bundle: true,
    minify: true,
    format: "esm",
    platform: "browser",
    target: "es2022",
    jsx: "automatic",
    jsxImportSource: "preact",
    legalComments: "none",
    charset: "utf8",
    write: false,
  });
  const pack = promisify(brotliCompress);
  const named = async (ending: string) =>
    new Uint8Array(
      await pack(outputFiles.find(({ path }) => path.endsWith(ending))?.contents ?? ""),
    );
  return { js: await named(".js"), css: await named(".css") };
}
