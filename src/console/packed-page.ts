// Bundles the page when the console is run from its sources. scripts/build.ts puts the outcome in place of this file.

import { join } from "node:path";
import { promisify } from "node:util";
import { brotliCompress } from "node:zlib";
import type { Metafile } from "esbuild";

/** The files of the page, compressed with Brotli. */
export interface PackedPage {
  readonly js: Uint8Array;
  readonly css: Uint8Array;
}

let bundled: Promise<PackedPage & { readonly metafile: Metafile }> | undefined;

/** Bundles the page, once. */
export function packedPage(): Promise<PackedPage> {
  bundled ??= bundle();
  return bundled;
}

/** What the page is made of, for the licenses that the package has to name. */
export async function pageMetafile(): Promise<Metafile> {
  bundled ??= bundle();
  return (await bundled).metafile;
}

async function bundle(): Promise<PackedPage & { readonly metafile: Metafile }> {
  const { build } = await import("esbuild");
  const { outputFiles, metafile } = await build({
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
    metafile: true,
  });
  const pack = promisify(brotliCompress);
  const named = async (ending: string) =>
    new Uint8Array(
      await pack(outputFiles.find(({ path }) => path.endsWith(ending))?.contents ?? ""),
    );
  return { js: await named(".js"), css: await named(".css"), metafile };
}
