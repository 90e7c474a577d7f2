// The script of the App, bundled. The package contains the bundle in place of this file (scripts/build.ts), so only those
// who work on the source need esbuild.

import { join } from "node:path";

let bundled: Promise<string> | undefined;

/** The script, as one text that can stand in a document. */
export function appScript(): Promise<string> {
  bundled ??= bundle();
  return bundled;
}

async function bundle(): Promise<string> {
  const { build } = await import("esbuild");
  const { outputFiles } = await build({
    entryPoints: [join(import.meta.dirname, "app.ts")],
    bundle: true,
    minify: true,
    format: "esm",
    platform: "browser",
    target: "es2022",
    legalComments: "none",
    charset: "utf8",
    write: false,
  });
  return outputFiles.map(({ text }) => text.trim()).join("");
}
