// Builds the package into a folder: `tsx scripts/build.ts [folder]`, by default `dist`.
//
// TypeScript writes the declarations, esbuild the code. All entries of the package are bundled together, so that they
// share their classes, and load from a few files. A server must install without the packages that only the command
// uses. The command therefore has a copy of src/client, and everything that it takes from other packages is in `vendor`. So is
// what `mcp-parley/oauth` takes.

import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { isBuiltin } from "node:module";
import { dirname, join, relative, resolve } from "node:path";
import process from "node:process";
import { build, transform } from "esbuild";
import type { BuildOptions, Metafile, OnResolveArgs, Plugin } from "esbuild";
import { packedPage, pageMetafile } from "../src/console/packed-page.ts";
import { appScript } from "../src/ui/app-script.ts";
import { libraryEntries, root, tsc } from "./package.ts";
import { withoutPreact } from "./without-preact.ts";

const source = join(root, "src");
const dist = resolve(process.argv[2] ?? join(root, "dist"));

const common = {
  absWorkingDir: root,
  bundle: true,
  splitting: true,
  format: "esm",
  platform: "node",
  target: "node20.19",
  legalComments: "none",
  charset: "utf8",
  minifySyntax: true,
  preserveSymlinks: true,
  metafile: true,
  logLevel: "warning",
} as const satisfies BuildOptions;

// ---------------------------------------------------------------- the library and the command

function writeDeclarations(): void {
  // `npm run check`, which comes before a release, checks the types.
  const args = ["-p", join(root, "tsconfig.build.json"), "--noCheck", "--outDir", dist];
  const { status } = spawnSync(process.execPath, [tsc, ...args], { stdio: "inherit" });
  // The compiler has printed what is wrong.
  if (status !== 0) process.exit(1);
}

/** Deletes the declarations that no entry of the package leads to. */
function dropUnusedDeclarations(): void {
  const used = new Set<string>();
  const queue = libraryEntries().map(({ file }) => join(dist, `${file}.d.ts`));
  for (let file = queue.pop(); file !== undefined; file = queue.pop()) {
    // An example in a comment can import a file that does not exist.
    if (used.has(file) || !existsSync(file)) continue;
    used.add(file);
    for (const [, path = ""] of readFileSync(file, "utf8").matchAll(/"(\.{1,2}\/[^"]+)\.[jt]s"/g)) {
      queue.push(resolve(dirname(file), `${path}.d.ts`));
    }
  }
  for (const name of readdirSync(dist, { recursive: true, encoding: "utf8" })) {
    const file = join(dist, name);
    if (file.endsWith(".d.ts") && !used.has(file)) rmSync(file);
  }
}

const entries: Readonly<Record<string, string>> = {
  ...Object.fromEntries(libraryEntries().map(({ file }) => [file, `${file}.ts`])),
  "node-only": "server/node-only.ts",
  "no-node": "server/no-node.ts",
  "cli/main": "cli/main.ts",
  "cli/demo-replica": "cli/demo/replica.ts",
  "cli/demo-tool": "cli/demo/tool.ts",
};

/** By file in `vendor`: the package whose code is there. */
type Vendored = Map<string, string>;

async function bundle(vendored: Vendored): Promise<Metafile> {
  const { metafile } = await build({
    ...common,
    entryPoints: Object.entries(entries).map(([out, file]) => ({ in: join(source, file), out })),
    outdir: dist,
    chunkNames: "chunks/[name]-[hash]",
    plugins: [withoutPreact(source), resolution(vendored)],
  });
  return metafile;
}

const resolution = (vendored: Vendored): Plugin => ({
  name: "what is bundled, and what is imported",
  setup: (bundler) => {
    bundler.onResolve({ filter: /^\.\.?\// }, (args) => {
      const file = relative(source, resolve(args.resolveDir, args.path)).replaceAll("\\", "/");
      // The demo shows people this file, so it is not merged with others.
      if (file === "cli/demo/tool.ts") return { path: "./demo-tool.js", external: true };
      // A Worker gets another file, by the conditions in package.json.
      if (file === "server/node-only.ts") return { path: "#node-only", external: true };
      const isCopied = isOfCommand(args) && file.startsWith("client/");
      return isCopied ? { path: file, namespace: "command" } : undefined;
    });
    // What esbuild makes of the App's script, so that the package does not need esbuild.
    bundler.onLoad({ filter: /[\\/]ui[\\/]app-script\.ts$/ }, async () => ({
      contents: `export const appScript = async () => ${JSON.stringify(await appScript())};`,
    }));
    // The page of the console is two files beside the code, compressed, because they take least room like that.
    bundler.onLoad({ filter: /[\\/]console[\\/]packed-page\.ts$/ }, () => ({
      contents: `import { readFile } from "node:fs/promises";
        const file = (name) => readFile(new URL(\`../console/page.\${name}.br\`, import.meta.url));
        export const packedPage = async () => ({ js: await file("js"), css: await file("css") });`,
    }));
    bundler.onLoad({ filter: /.*/, namespace: "command" }, ({ path }) => ({
      contents: readFileSync(join(source, path), "utf8"),
      loader: "ts",
      resolveDir: dirname(join(source, path)),
    }));
    bundler.onResolve({ filter: /^[@a-z]/ }, (args) => {
      const { path } = args;
      if (path === "@modelcontextprotocol/node") return undefined;
      // Only a class that the server does not use needs this one. Loading it has no effect, so it is left out.
      if (path === "@hono/node-server") return { path, external: true, sideEffects: false };
      const isInstalled = isBuiltin(path) || path.startsWith("@modelcontextprotocol/server");
      const isVendored = path === "oauth4webapi" || isOfCommand(args);
      if (isInstalled || !isVendored) return { path, external: true };
      const file = path.replaceAll(/\W+/g, "-").replace(/^-/, "");
      vendored.set(file, path);
      // The same path from cli/, from oauth/ and from chunks/.
      return { path: `../vendor/${file}.js`, external: true };
    });
  },
});

const isOfCommand = ({ importer, namespace }: OnResolveArgs): boolean =>
  namespace === "command" || importer.startsWith(join(source, "cli/"));

/**
 * Takes the white space out of the files, because a server should install little more than the SDK. Names stay, and lines
 * stay short, so that a stack trace still says where something happened. The pages, the console and the store contract are
 * large and hardly ever in one, so their names are short.
 */
async function shrink({ outputs }: Metafile): Promise<void> {
  for (const output of Object.keys(outputs)) {
    // The demo shows people its tool.
    if (output.endsWith("demo-tool.js")) continue;
    const file = resolve(root, output);
    const { code } = await transform(readFileSync(file, "utf8"), {
      format: "esm",
      charset: "utf8",
      minifyWhitespace: true,
      minifyIdentifiers: /\/(pages-\w+|console\/index|testing\/store\/index)\.js$/.test(output),
      lineLimit: 120,
    });
    writeFileSync(file, code);
  }
}

/** The console's page. Entries and chunks are both one folder below `dist`, so the same path leads there. */
async function writePage(): Promise<void> {
  const { js, css } = await packedPage();
  writeFileSync(join(dist, "console/page.js.br"), js);
  writeFileSync(join(dist, "console/page.css.br"), css);
}

// ---------------------------------------------------------------- vendor

async function bundleVendor(vendored: Vendored, importers: Metafile): Promise<Metafile> {
  const { metafile } = await build({
    ...common,
    entryPoints: [...vendored.keys()].map((file) => ({ in: `vendor:${file}`, out: file })),
    outdir: join(dist, "vendor"),
    minify: true,
    banner: { js: requireInModules },
    plugins: [onlyWhatIsUsed(vendored, importsOfVendor(importers))],
  });
  return metafile;
}

/** Some of the packages are CommonJS and call `require`, which a module does not have. */
const requireInModules = `import { createRequire as requireFrom } from "node:module";
const require = requireFrom(import.meta.url);`;

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

const importOfVendor = /import \{([^}]*)\} from "\.\.\/vendor\/([^"]+)\.js"/g;

const onlyWhatIsUsed = (
  vendored: Vendored,
  used: ReadonlyMap<string, ReadonlySet<string>>,
): Plugin => ({
  name: "only what is used",
  setup: (bundler) => {
    bundler.onResolve({ filter: /^vendor:/ }, ({ path }) => ({ path, namespace: "vendor" }));
    bundler.onLoad({ filter: /.*/, namespace: "vendor" }, ({ path }) => {
      const file = path.slice("vendor:".length);
      const names = [...(used.get(file) ?? [])].join(", ");
      return { contents: `export { ${names} } from "${vendored.get(file)}";`, resolveDir: root };
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
  const texts = [...byText].map(([text, names]) => `${names.join("\n")}\n\n${text}\n`);
  const head = "This package contains code of the following packages.";
  return `${head}\n\n${texts.join(`\n${"-".repeat(80)}\n\n`)}`;
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

// ---------------------------------------------------------------- the version of Node

const nodeCheck = "node-check.js";

/**
 * Lets each file import the check of Node's version before anything else. Modules are evaluated in the order of their
 * imports, and esbuild does not keep an import that only has an effect.
 */
async function checkNodeFirst({ outputs }: Metafile): Promise<void> {
  await build({
    ...common,
    splitting: false,
    metafile: false,
    entryPoints: [join(source, "util/node-check.ts")],
    outfile: join(dist, nodeCheck),
  });
  for (const output of Object.keys(outputs)) {
    const file = resolve(root, output);
    // The command checks the version itself, so that it can say so in one line.
    if (file.startsWith(join(dist, "cli/"))) continue;
    const path = relative(dirname(file), join(dist, nodeCheck)).replaceAll("\\", "/");
    const code = readFileSync(file, "utf8");
    writeFileSync(file, `import "${path.startsWith(".") ? path : `./${path}`}";\n${code}`);
  }
}

rmSync(dist, { recursive: true, force: true });
writeDeclarations();
dropUnusedDeclarations();
const vendored: Vendored = new Map();
const bundled = await bundle(vendored);
const vendor = await bundleVendor(vendored, bundled);
await shrink(bundled);
await writePage();
await checkNodeFirst(bundled);
writeFileSync(
  join(dist, "THIRD-PARTY-LICENSES.txt"),
  licenses([bundled, vendor, await pageMetafile()]),
);
