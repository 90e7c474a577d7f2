// The runtimes that the package is tried on besides the Node of this process. Each is an npm package that contains the
// executable for this platform.

import { readdirSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { nodeIn, nodePackage } from "./node-package.ts";

/** A runtime and how it runs a program. */
export interface Runtime {
  readonly package: string;
  /** The executable of the package, where it is installed in this `node_modules`. */
  readonly executable: (modules: string) => string;
  readonly args: readonly string[];
  /** The whole server that the page about this runtime shows, by its path in the repository. */
  readonly server?: string;
  /** Workers have no files, and take their program as one module. */
  readonly isWorker?: boolean;
}

/** The executable in the package for this platform, which npm has chosen among those of a scope. */
const only = (scope: string, pattern: RegExp, path: string) => (modules: string) => {
  const name = readdirSync(join(modules, scope))
    .toSorted()
    .find((one) => pattern.test(one));
  if (name === undefined) throw new Error(`There is no ${scope} package for ${process.platform}.`);
  return join(modules, scope, name, process.platform === "win32" ? `${path}.exe` : path);
};

const node = (version: string): Runtime => ({
  package: `${nodePackage()}@${version}`,
  executable: nodeIn,
  args: [],
});

/** By the name that `npm run test:runtime` takes. */
export const runtimes: Readonly<Record<string, Runtime>> = {
  node20: node("20"),
  node22: node("22"),
  node24: node("24"),
  node26: node("26"),
  bun: {
    package: "bun@1.4.4",
    executable: only("@oven", /^bun-/, "bin/bun"),
    args: [],
    server: "examples/serve/bun.ts",
  },
  deno: {
    package: "deno@2.9.6",
    executable: only("@deno", /./, "deno"),
    args: ["run", "--allow-all", "--node-modules-dir=manual"],
    server: "examples/serve/deno.ts",
  },
  workerd: {
    package: "workerd@1.20261104.1",
    executable: only("@cloudflare", /^workerd-/, "bin/workerd"),
    args: ["serve", "--control-fd=3"],
    isWorker: true,
  },
};
