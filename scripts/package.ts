// What the scripts, the benchmarks and the tests know about the package: its entries, and the compiler that builds it.

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, resolve } from "node:path";

export const root: string = resolve(import.meta.dirname, "..");

/** The TypeScript compiler. Run it with `node`: `npx` takes longer to start. */
export const tsc: string = join(
  dirname(createRequire(import.meta.url).resolve("typescript/package.json")),
  "bin/tsc",
);

/** An entry of package.json. */
export interface Entry {
  /** As it is imported, after `mcp-parley`: `.` or `./testing/store`. */
  readonly subpath: string;
  /** Its file without an extension, from the root of `src` and `dist` alike: `testing/store/index`. */
  readonly file: string;
}

/** Every entry of the package that has code. */
export function libraryEntries(): readonly Entry[] {
  const { exports }: { exports: Readonly<Record<string, string | { default: string }>> } =
    JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  return Object.entries(exports).flatMap(([subpath, target]) =>
    typeof target === "string"
      ? []
      : [{ subpath, file: target.default.slice("./dist/".length, -".js".length) }],
  );
}
