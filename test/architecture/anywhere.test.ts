// What lets an app run on Workers and in functions: the main entry imports few parts of Node, and neither loading it nor
// making an app does anything that such a platform refuses.

import { createRequire, isBuiltin } from "node:module";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";
import type { BuildOptions, Metafile, OutputFile, Plugin } from "esbuild";
import { expect, test } from "vitest";
import type { play } from "mcp-parley/testing";
import type { App, Logger, parley, Store } from "mcp-parley";
import { root } from "../../scripts/package.ts";
import * as noNode from "../../src/server/no-node.ts";
import * as nodeOnly from "../../src/server/node-only.ts";
import { newKey } from "../../src/token/keyring.ts";

const quiet: Logger = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

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
  outputs: readonly OutputFile[],
  scope: Readonly<Record<string, unknown>>,
): readonly { readonly app: App; readonly fetch: unknown }[] {
  return exportsOf<{ made?: readonly { app: App; fetch: unknown }[] }>(outputs, scope).made ?? [];
}

/** What a bundle exports that runs in this scope. */
function exportsOf<T extends object>(
  [output]: readonly OutputFile[],
  scope: Readonly<Record<string, unknown>>,
): Partial<T> {
  const module: { exports: Partial<T> } = { exports: {} };
  const names = [...Object.keys(scope), "module", "exports"];
  // oxlint-disable-next-line typescript/no-implied-eval -- it runs in a scope of its own
  const run: unknown = new Function(...names, output?.text ?? "");
  if (typeof run !== "function") throw new TypeError("There is nothing to run.");
  run(...Object.values(scope), module, module.exports);
  return module.exports;
}

/** As the condition in package.json has it. */
const inWorker: Plugin = {
  name: "in a Worker",
  setup: (bundler) => {
    bundler.onResolve({ filter: /[\\/]node-only\.ts$/ }, () => ({
      path: join(root, "src/server/no-node.ts"),
    }));
  },
};

/** Bundles a Worker with this code. */
const workerOf = (contents: string, format: "cjs" | "esm") =>
  build({
    ...asWorker,
    plugins: [asBuilt, inWorker],
    format,
    minify: true,
    outdir: "out",
    metafile: true,
    stdin: { contents, resolveDir: root, loader: "ts" },
    external: ["@modelcontextprotocol/*", "libsql", "pg"],
    logOverride: { "empty-import-meta": "silent" },
  });

/** The files of src that are in a bundle. */
const sourcesIn = ({ outputs }: Metafile): string[] =>
  Object.values(outputs)
    .flatMap(({ inputs }) => Object.entries(inputs))
    .flatMap(([file, { bytesInOutput }]) => (bytesInOutput > 0 ? [file] : []));

test("a Worker without a store is at most 80 KiB of ours, and leaves out what needs a store", async () => {
  const app = `import { parley } from "./src/index.ts";
    export default { fetch: parley({ name: "shop", version: "1.0.0" }).fetch };`;
  const { metafile, outputFiles } = await workerOf(app, "esm");
  const needsStore = /^src\/ui\/|node_modules\/preact|task-engine|repeated-round|call-tools/;
  expect(sourcesIn(metafile).filter((file) => needsStore.test(file))).toEqual([]);
  const bytes = outputFiles.map(({ contents }) => gzipSync(contents).length);
  expect(bytes.reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(80 * 1024);
});

test.each([
  ["memoryStore()", "./src/index.ts"],
  ["durableObjectStore(() => ({}))", "./src/durable-object/index.ts"],
  ["workerStore({})", "./src/index.ts"],
])("%s brings what needs a store into a Worker's bundle", async (call, from) => {
  const [name = ""] = call.split("(");
  const app = `import { parley } from "./src/index.ts";
    import { ${name} } from "${from}";
    export default parley({ name: "shop", version: "1.0.0", store: ${call} });`;
  const { metafile } = await workerOf(app, "esm");
  expect(sourcesIn(metafile)).toEqual(
    expect.arrayContaining(["src/server/tasks/task-engine.ts", "src/server/pages/pages.ts"]),
  );
});

test("the test kit plays a call that needs a store inside a Worker", async () => {
  const { outputFiles } = await workerOf(
    'export { parley } from "./src/index.ts"; export { play } from "./src/testing/index.ts";',
    "cjs",
  );
  const require = createRequire(import.meta.url);
  interface Exports {
    parley: typeof parley;
    play: typeof play;
  }
  const { parley: make, play: plays } = exportsOf<Exports>(outputFiles, { require });
  if (make === undefined || plays === undefined) throw new Error("The bundle is empty.");
  const app = make({ name: "shop", version: "1.0.0" });
  const buy = app.tool("buy", { once: true }, async (ctx) => {
    const what = await ctx.ask("what", "What?");
    return ctx.step("buy", () => what);
  });
  expect((await plays(buy, {}, { what: "tea" })).text).toBe("tea");
});

test("a Worker without a store says so where one is needed", async () => {
  const { outputFiles } = await workerOf(
    'export { parley } from "./src/index.ts"; export { MemoryStore } from "./src/tasks/stores/memory.ts";',
    "cjs",
  );
  interface Exports {
    parley: typeof parley;
    MemoryStore: new () => Store;
  }
  const require = createRequire(import.meta.url);
  const { parley: make, MemoryStore } = exportsOf<Exports>(outputFiles, { require });
  if (make === undefined || MemoryStore === undefined) throw new Error("The bundle is empty.");
  const errors: string[] = [];
  const logger = { ...quiet, error: (message: string) => void errors.push(message) };
  const options = { name: "shop", version: "1.0.0", keys: newKey("k"), logger };
  const app = make({ ...options, relay: true });
  expect(app.fetch).toBeTypeOf("function");
  await Promise.resolve();
  expect(errors).toEqual([
    "parley({ relay: true }) keeps paused calls in a store, and this app has none. Pass parley({ store }).",
  ]);
  await expect(app.deliver("ticket", 1)).rejects.toMatchObject({ code: "no_store" });
  const decision = { who: "ada", groups: [], approve: true };
  await expect(app.decide("ticket", decision)).rejects.toMatchObject({ code: "no_store" });
  expect(() => make({ ...options, store: new MemoryStore() })).toThrow(
    "parley({ store }): in a Worker, only durableObjectStore() and memoryStore() bring along what works with a store. Pass any other store as parley({ store: workerStore(store) }), with workerStore from mcp-parley.",
  );
});

test("what a Worker gets in place of what needs Node has the same names, and says what to do", () => {
  expect(Object.keys(noNode).toSorted()).toEqual(Object.keys(nodeOnly).toSorted());
  expect(() => noNode.isLoopback("127.0.0.1")).toThrow(
    "app.listen() needs Node, Bun or Deno. In a Worker, use app.fetch.",
  );
});
