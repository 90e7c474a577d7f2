// What lets an app run on Workers and in functions: the main entry imports few parts of Node, and neither loading it nor
// making an app does anything that such a platform refuses.

import { createRequire, isBuiltin } from "node:module";
import { join } from "node:path";
import { build } from "esbuild";
import type { BuildOptions, OutputFile, Plugin } from "esbuild";
import { expect, test } from "vitest";
import type { App } from "mcp-parley";
import { root } from "../../scripts/package.ts";
import * as noNode from "../../src/server/no-node.ts";
import * as nodeOnly from "../../src/server/node-only.ts";

const allowed = ["async_hooks", "buffer", "crypto", "events", "path", "process", "url", "zlib"];

/** As scripts/build.ts has it. */
const asBuilt: Plugin = {
  name: "as built",
  setup: (bundler) => {
    bundler.onResolve({ filter: /^@hono\/node-server$/ }, ({ path }) => ({
      path,
      external: true,
      sideEffects: false,
    }));
    bundler.onLoad({ filter: /[\\/]ui[\\/]app-script\.ts$/ }, () => ({
      contents: 'export const appScript = async () => "";',
    }));
  },
};

const asWorker = {
  absWorkingDir: root,
  bundle: true,
  conditions: ["workerd", "worker", "browser"],
  mainFields: ["module", "main"],
  platform: "node",
  target: "es2022",
  plugins: [asBuilt],
  write: false,
  logLevel: "error",
} as const satisfies BuildOptions;

test("the main entry imports only what Workers have, and no optional package", async () => {
  const { metafile } = await build({
    ...asWorker,
    format: "esm",
    outdir: "out",
    metafile: true,
    entryPoints: [join(root, "src/index.ts")],
    // Unresolved names stay as they are, so that they show up below.
    external: ["libsql", "pg", "esbuild", "@opentelemetry/*"],
  });
  const imports = Object.values(metafile.outputs)
    .flatMap((output) => output.imports)
    .flatMap(({ path, external }) => (external === true ? [path.replace(/^node:/, "")] : []));
  expect(imports.filter((name) => !allowed.includes(name))).toEqual([]);
  expect(imports.every((name) => isBuiltin(name))).toBe(true);
});

/** What Workers refuse while a module loads, and reading files, which constructing an app must not do anywhere. */
function platform(): {
  readonly used: string[];
  readonly scope: Readonly<Record<string, unknown>>;
} {
  const used: string[] = [];
  const use = (name: string) => {
    used.push(name);
    throw new Error(`${name} is not allowed while the module loads.`);
  };
  const refused = (name: string) =>
    function refuse() {
      use(name);
    };
  const require = createRequire(import.meta.url);
  const scope = {
    AbortController: refused("AbortController"),
    setTimeout: refused("setTimeout"),
    setInterval: refused("setInterval"),
    setImmediate: refused("setImmediate"),
    fetch: refused("fetch"),
    Math: Object.create(Math, { random: { value: refused("Math.random") } }),
    process: {
      env: {},
      versions: {},
      nextTick: (callback: () => void) => queueMicrotask(callback),
      getBuiltinModule: (name: string) => (name === "node:v8" ? undefined : use(name)),
    },
    require: (name: string): unknown => {
      const module: unknown = require(name);
      if (name !== "node:crypto" && name !== "crypto") return module;
      const random = ["randomBytes", "randomFillSync", "randomUUID", "randomInt"];
      const refusals = random.map((one) => [one, { value: refused(one) }] as const);
      return Object.create(Object(module), Object.fromEntries(refusals));
    },
  };
  return { used, scope };
}

test("loading the main entry and making an app makes no timer, random value or AbortController, and reads nothing", async () => {
  const { outputFiles } = await build({
    ...asWorker,
    // In this format `import.meta.url` is undefined, as it is in a Worker.
    format: "cjs",
    outdir: "out",
    logOverride: { "empty-import-meta": "silent" },
    stdin: {
      contents: `
        import { memoryStore, parley } from "./src/index.ts";
        import { postgresStore } from "./src/tasks/stores/postgres/index.ts";
        export const made = [memoryStore(), postgresStore("postgres://db.example/tasks")].map((store) => {
          const app = parley({ name: "shop", version: "1.0.0", keys: "k:" + "A".repeat(43), store, relay: true });
          app.tool("buy", { task: "optional" }, (ctx) => ctx.ask("what", "What?"));
          return { fetch: app.fetch, app };
        });`,
      resolveDir: root,
      loader: "ts",
    },
    external: ["pg"],
  });
  const { used, scope } = platform();
  const made = loaded(outputFiles, scope);
  // The check of what is missing runs after the code that takes the handler.
  await Promise.resolve();
  expect(used).toEqual([]);
  expect(made.map(({ fetch }) => typeof fetch)).toEqual(["function", "function"]);
});

function loaded(
  [output]: readonly OutputFile[],
  scope: Readonly<Record<string, unknown>>,
): readonly { readonly app: App; readonly fetch: unknown }[] {
  const module: { exports: { made?: readonly { app: App; fetch: unknown }[] } } = { exports: {} };
  const names = [...Object.keys(scope), "module", "exports"];
  // oxlint-disable-next-line typescript/no-implied-eval -- it runs in a scope of its own
  const run: unknown = new Function(...names, output?.text ?? "");
  if (typeof run !== "function") throw new TypeError("There is nothing to run.");
  run(...Object.values(scope), module, module.exports);
  return module.exports.made ?? [];
}

test("what a Worker gets in place of what needs Node has the same names, and says what to do", () => {
  expect(Object.keys(noNode).toSorted()).toEqual(Object.keys(nodeOnly).toSorted());
  expect(() => noNode.isLoopback("127.0.0.1")).toThrow(
    "app.listen() needs Node, Bun or Deno. In a Worker, use app.fetch.",
  );
});
