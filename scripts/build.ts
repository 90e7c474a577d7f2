// Builds the package into a folder: `tsx scripts/build.ts [folder]`, by default `dist`.
//
// TypeScript compiles the library file by file. Two parts are bundled, so that a server installs without the packages
// they use:
//   - the command, with its prompts, a copy of src/client and the official client;
//   - src/server/http/node-adapter.ts, with the official Node adapter.
// The rest of the library stays outside of the command's bundle, because a server file that the command imports has to
// meet the same classes as the command does.

import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire, isBuiltin } from "node:module";
import { dirname, join, relative, resolve } from "node:path";
import process from "node:process";
import { build } from "esbuild";
import type { BuildOptions, Metafile, Plugin } from "esbuild";

const root = resolve(import.meta.dirname, "..");
const source = join(root, "src");
const dist = resolve(process.argv[2] ?? join(root, "dist"));

const common = {
  absWorkingDir: root,
  bundle: true,
  format: "esm",
  platform: "node",
  target: "node20.19",
  legalComments: "none",
  preserveSymlinks: true,
  metafile: true,
  logLevel: "warning",
} as const satisfies BuildOptions;

// ---------------------------------------------------------------- the library

function compile(): void {
  const manifest = createRequire(import.meta.url).resolve("typescript/package.json");
  const tsc = join(dirname(manifest), "bin/tsc");
  const args = ["-p", join(root, "tsconfig.build.json"), "--outDir", dist];
  const { status } = spawnSync(process.execPath, [tsc, ...args], { stdio: "inherit" });
  // The compiler has printed what is wrong.
  if (status !== 0) process.exit(1);
}

/** Editors show comments from the declarations. Without them, the code is smaller and loads faster. */
async function dropComments(): Promise<void> {
  const files = readdirSync(dist, { recursive: true, encoding: "utf8" });
  await build({
    ...common,
    bundle: false,
    entryPoints: files.filter((file) => file.endsWith(".js")).map((file) => join(dist, file)),
    outdir: dist,
    allowOverwrite: true,
  });
}

async function bundleNodeAdapter(): Promise<Metafile> {
  const { metafile } = await build({
    ...common,
    entryPoints: [join(source, "server/http/node-adapter.ts")],
    outfile: join(dist, "server/http/node-adapter.js"),
    allowOverwrite: true,
    external: ["@modelcontextprotocol/server"],
    plugins: [withoutFramework],
  });
  return metafile;
}

/** Only a class that the server does not use needs this package. Loading it has no effect, so it can be left out. */
const withoutFramework: Plugin = {
  name: "without the framework",
  setup: (bundler) =>
    bundler.onResolve({ filter: /^@hono\/node-server$/ }, ({ path }) => ({
      path,
      external: true,
      sideEffects: false,
    })),
};

// ---------------------------------------------------------------- the command

/** The command's own code stays readable. The code of other packages goes into `vendor`, minified. */
async function bundleCommand(): Promise<readonly Metafile[]> {
  const outdir = join(dist, "cli");
  const packages = new Map<string, string>();
  const own = await build({
    ...common,
    entryPoints: [
      { in: join(source, "cli/main.ts"), out: "main" },
      { in: join(source, "cli/demo/replica.ts"), out: "demo-replica" },
      { in: join(source, "cli/demo/tool.ts"), out: "demo-tool" },
    ],
    outdir,
    splitting: true,
    plugins: [outsideOfBundle(packages)],
  });
  const vendor = await build({
    ...common,
    entryPoints: [...packages.keys()].map((file) => ({ in: `used:${file}`, out: file })),
    outdir: join(outdir, "vendor"),
    splitting: true,
    minify: true,
    banner: { js: requireInModules },
    plugins: [onlyWhatIsUsed(packages, importsOfVendor(own.metafile))],
  });
  return [own.metafile, vendor.metafile];
}

/** Some of the packages are CommonJS and call `require`, which a module does not have. */
const requireInModules = `import { createRequire as requireFrom } from "node:module";
const require = requireFrom(import.meta.url);`;

/** All files of the command are written into one folder, so each of them reaches a file outside by the same path. */
const outsideOfBundle = (packages: Map<string, string>): Plugin => ({
  name: "outside of the bundle",
  setup: (bundler) => {
    bundler.onResolve({ filter: /^\.\.?\// }, ({ path, resolveDir }) => {
      const file = relative(source, resolve(resolveDir, path)).replaceAll("\\", "/");
      // The demo shows people this file, so it is not merged with others.
      if (file === "cli/demo/tool.ts") return { path: "./demo-tool.js", external: true };
      if (/^(cli|client)\//.test(file)) return undefined;
      return { path: `../${file.replace(/\.ts$/, ".js")}`, external: true };
    });
    bundler.onResolve({ filter: /^[@a-z]/ }, ({ path }) => {
      const isAtHand = isBuiltin(path) || path.startsWith("@modelcontextprotocol/server");
      if (isAtHand) return { path, external: true };
      const file = path.replaceAll(/\W+/g, "-").replace(/^-/, "");
      packages.set(file, path);
      return { path: `./vendor/${file}.js`, external: true };
    });
  },
});

/** The names that the written files import from each file of `vendor`. */
function importsOfVendor({ outputs }: Metafile): ReadonlyMap<string, ReadonlySet<string>> {
  const used = new Map<string, Set<string>>();
  for (const output of Object.keys(outputs)) {
    const code = readFileSync(join(root, output), "utf8");
    for (const [, names = "", file = ""] of code.matchAll(importOfVendor)) {
      const known = used.get(file) ?? new Set();
      for (const name of names.split(",")) known.add(name.trim().replace(/ as .*$/, ""));
      used.set(file, known);
    }
  }
  return used;
}

const importOfVendor = /import \{([^}]*)\} from "\.\/vendor\/([^"]+)\.js"/g;

const onlyWhatIsUsed = (
  packages: ReadonlyMap<string, string>,
  used: ReadonlyMap<string, ReadonlySet<string>>,
): Plugin => ({
  name: "only what is used",
  setup: (bundler) => {
    bundler.onResolve({ filter: /^used:/ }, ({ path }) => ({ path, namespace: "used" }));
    bundler.onLoad({ filter: /.*/, namespace: "used" }, ({ path }) => {
      const file = path.slice("used:".length);
      const names = [...(used.get(file) ?? [])].join(", ");
      return { contents: `export { ${names} } from "${packages.get(file)}";`, resolveDir: root };
    });
  },
});

// ---------------------------------------------------------------- licenses

/** The licenses of the packages whose code is in a bundle. Those that share a text word for word share an entry. */
function licenses(metafiles: readonly Metafile[]): string {
  const inputs = metafiles
    .flatMap(({ outputs }) => Object.values(outputs))
    .flatMap((output) => Object.entries(output.inputs))
    .flatMap(([file, { bytesInOutput }]) => (bytesInOutput > 0 ? [file] : []));
  const folders = inputs.flatMap((file) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file) ?? []);
  const byText = new Map<string, string[]>();
  for (const folder of [...new Set(folders)].toSorted()) {
    const { name, text } = licenseIn(resolve(root, folder));
    byText.set(text, [...(byText.get(text) ?? []), name]);
  }
  const entries = [...byText].map(([text, names]) => `${names.join("\n")}\n\n${text}\n`);
  const head = "The files in cli/ and server/http/node-adapter.js contain code of these packages.";
  return `${head}\n\n${entries.join(`\n${"-".repeat(80)}\n\n`)}`;
}

function licenseIn(folder: string): { readonly name: string; readonly text: string } {
  const manifest: Readonly<Record<string, string>> = JSON.parse(
    readFileSync(join(folder, "package.json"), "utf8"),
  );
  const { name, version, license } = manifest;
  const file = readdirSync(folder).find((entry) => /^licen[cs]e(\.|$)/i.test(entry));
  if (file === undefined) throw new Error(`${name} has no license file to pass on.`);
  const text = readFileSync(join(folder, file), "utf8").trim();
  return { name: `${name} ${version} (${license})`, text };
}

rmSync(dist, { recursive: true, force: true });
compile();
await dropComments();
const bundles = [await bundleNodeAdapter(), ...(await bundleCommand())];
writeFileSync(join(dist, "THIRD-PARTY-LICENSES.txt"), licenses(bundles));
