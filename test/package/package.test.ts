// The package as a stranger gets it: packed, installed in an empty folder, compiled and run.

import { execFileSync, spawnSync } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Packed } from "../run/pack.ts";
import { askRun } from "../run/shared.ts";

const root = resolve(import.meta.dirname, "../..");
const bin = (name: string) => join(root, "node_modules/.bin", name);
const run = (command: string, args: readonly string[], cwd = root) =>
  execFileSync(command, args, { cwd, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });

const install = (...packages: readonly string[]) => {
  const place = mkdtempSync(join(folder, "installed-"));
  writeFileSync(join(place, "package.json"), JSON.stringify({ private: true, type: "module" }));
  run("npm", ["install", "--prefer-offline", "--no-audit", "--no-fund", ...packages], place);
  return place;
};

let folder: string;
let tarball: string;
let files: readonly string[];

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "parley-package-"));
  ({ tarball, files } = await askRun<Packed>("packed"));
  // Installed by hand, with the packages that npm would install and no optional peer.
  const modules = join(folder, "node_modules");
  mkdirSync(join(modules, "mcp-parley"), { recursive: true });
  run("tar", ["xzf", tarball, "-C", join(modules, "mcp-parley"), "--strip-components", "1"]);
  for (const dependency of [
    "zod",
    "@modelcontextprotocol/core",
    "@modelcontextprotocol/server",
    "@types/node",
    "undici-types",
  ]) {
    mkdirSync(dirname(join(modules, dependency)), { recursive: true });
    symlinkSync(join(root, "node_modules", dependency), join(modules, dependency));
  }
  cpSync(join(import.meta.dirname, "consumer"), folder, { recursive: true });
  writeFileSync(join(folder, "package.json"), JSON.stringify({ type: "module" }));
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

test("the package contains these files and no others", () => {
  expect(files.filter((file) => !file.startsWith("dist/")).toSorted()).toEqual([
    "CHANGELOG.md",
    "LICENSE",
    "README.md",
    "SECURITY.md",
    "package.json",
  ]);
  const built = files.filter((file) => file.startsWith("dist/"));
  expect(built.filter((file) => !/\.(js|d\.ts)$/.test(file)).toSorted()).toEqual([
    "dist/THIRD-PARTY-LICENSES.txt",
    "dist/console/page.css.br",
    "dist/console/page.js.br",
  ]);
  expect(built.filter((file) => /\.test\.|fixture|test-d/.test(file))).toEqual([]);
  expect(built.filter((file) => /^dist\/cli\/.*\.d\.ts$/.test(file))).toEqual([]);
  const { bin: commands, exports } = manifest();
  const named = [...Object.values(commands), ...Object.values(exports).flatMap(targetsOf)];
  expect(named.filter((file) => !files.includes(file.replace(/^\.\//, "")))).toEqual([]);
  // The code is in the entries, in the chunks that they share, in what a Worker gets or does not get, and in two files for the
  // demo.
  const code = built.filter(
    (file) => file.endsWith(".js") && !/^dist\/(chunks|vendor)\//.test(file),
  );
  expect(code.filter((file) => !named.includes(`./${file}`) && !named.includes(file))).toEqual([
    "dist/cli/demo-replica.js",
    "dist/cli/demo-tool.js",
    "dist/no-node.js",
    "dist/node-check.js",
    "dist/node-only.js",
  ]);
});

test("each link of the README leads to a file of the package, or is an absolute URL", () => {
  const text = readFileSync(join(root, "README.md"), "utf8");
  const links = [...text.matchAll(/\]\(([^)\s]+)[^)]*\)|(?:src|href)="([^"]+)"/g)].map(
    ([, link, attribute]) => link ?? attribute ?? "",
  );
  const isAddress = (link: string) => /^(https:\/\/|mailto:|#)/.test(link);
  const isPacked = (link: string) => files.includes(link.replace(/#.*$/, ""));
  expect(links.length).toBeGreaterThan(0);
  expect(links.filter((link) => !isAddress(link) && !isPacked(link))).toEqual([]);
});

test("the licenses of bundled packages come with their code", () => {
  const text = readFileSync(join(folder, "node_modules/mcp-parley", licensesFile), "utf8");
  for (const name of [
    "@clack/prompts",
    "@modelcontextprotocol/client",
    "@modelcontextprotocol/node",
    "@preact/signals",
    "zod",
  ]) {
    expect(text).toMatch(new RegExp(`^${name} \\d.* \\(.*\\)$`, "m"));
  }
});

test("a server installs little more than the official SDK, and the command comes with it", () => {
  const place = install(tarball);
  const { devDependencies } = manifest();
  const official = install(
    `@modelcontextprotocol/server@${devDependencies["@modelcontextprotocol/server"]}`,
  );
  const installed = bytesIn(join(place, "node_modules"));
  // Of this, the console is half a percent: its page is compressed, and nothing else of the package loads it.
  expect(installed / bytesIn(join(official, "node_modules"))).toBeLessThanOrEqual(1.18);
  expect(readdirSync(join(place, "node_modules")).filter((name) => /^[@a-z]/.test(name))).toEqual([
    "@modelcontextprotocol",
    "mcp-parley",
    "zod",
  ]);

  const npx = (...args: readonly string[]) => run("npx", ["--no-install", ...args], place);
  expect(npx("mcp-parley", "--version")).toBe(`${manifest().version}\n`);
  writeFileSync(join(place, "server.mjs"), serverFile);
  const called = npx(
    "mcp-parley",
    "call",
    "server.mjs",
    "greet",
    "name=Ada",
    "--answer",
    "ok=true",
  );
  expect(called).toBe("Hello, Ada!\n");
  expect(npx("parley", "list", "--", process.execPath, "server.mjs")).toContain("greet");
});

const licensesFile = "dist/THIRD-PARTY-LICENSES.txt";

const serverFile = `import { parley } from "mcp-parley";
import { z } from "zod";

const app = parley({ name: "greeter", version: "1.0.0" });
app.tool("greet", { inputSchema: z.object({ name: z.string() }) }, async ({ name }, ctx) =>
  (await ctx.confirm("ok", "Say hello?")) ? \`Hello, \${name}!\` : "Nothing was said.",
);
await app.listen(0);
`;

test("on an older Node, the library and the command say in one line which version they need", () => {
  const pretend =
    "Object.defineProperty(process,'versions',{value:{...process.versions,node:'18.20.8'}})";
  const old = ["--import", `data:text/javascript,${encodeURIComponent(pretend)}`];
  const text =
    "mcp-parley needs Node.js 20.19 or newer, and this is 18.20.8. Install a newer one from https://nodejs.org.";
  const entries = Object.keys(manifest().exports).filter((name) => !name.endsWith(".json"));
  const code = `for (const name of ${JSON.stringify(entries)})
    await import(name.replace(".", "mcp-parley")).catch(({ message }) => console.log(message));`;
  const said = run("node", [...old, "--input-type=module", "-e", code], folder);
  // An entry that needs another package, which is not installed here, cannot even be linked.
  const told = said
    .split("\n")
    .filter((line) => line !== "" && !line.startsWith("Cannot find package"));
  expect(told.length).toBeGreaterThan(3);
  expect(new Set(told)).toEqual(new Set([text]));
  const main = "node_modules/mcp-parley/dist/cli/main.js";
  const { status, stderr } = spawnSync("node", [...old, main, "--help"], {
    cwd: folder,
    encoding: "utf8",
  });
  expect({ status, stderr }).toEqual({ status: 1, stderr: `${text}\n` });
  // An old Node fails before it runs a line if a file that is loaded at once imports a name that this Node lacks.
  const built = readFileSync(join(folder, main), "utf8");
  expect([...built.matchAll(/\bimport\b[^("']*["']([^"']*)["']/g)].map(([, name]) => name)).toEqual(
    ["node:process"],
  );
});

test("without the official client, the client entry says what to install", () => {
  expect(existsSync(join(folder, "node_modules/@modelcontextprotocol/client"))).toBe(false);
  const code = `import("mcp-parley/client").catch((error) => console.log(error.message))`;
  expect(run("node", ["-e", code], folder)).toMatch(
    /^Cannot find package '@modelcontextprotocol\/client' imported from /,
  );
});

test("a consumer compiles with library checks on, and runs", () => {
  const options = ["--strict", "--skipLibCheck", "false", "--exactOptionalPropertyTypes"];
  const target = ["--target", "es2023", "--module", "nodenext", "--types", "node"];
  run(bin("tsc"), [...options, ...target, "consumer.ts"], folder);
  expect(run("node", ["consumer.js"], folder)).toBe("consumer ok\n");
});

test("it can be required from CommonJS", () => {
  const code = 'console.log(Object.keys(require("mcp-parley")).sort().join(" "))';
  expect(run("node", ["--no-warnings", "-e", code], folder).trim()).toBe(
    "ParleyError StepError Unanswered UnansweredError inputRequired memoryStore parley workerStore",
  );
});

test("each entry exports exactly these names", async () => {
  expect(Object.keys(await import("mcp-parley")).toSorted()).toEqual([
    "ParleyError",
    "StepError",
    "Unanswered",
    "UnansweredError",
    "inputRequired",
    "memoryStore",
    "parley",
    "workerStore",
  ]);
  expect(Object.keys(await import("mcp-parley/testing")).toSorted()).toEqual([
    "approvedBy",
    "cancelled",
    "crashTest",
    "declined",
    "play",
    "rejectedBy",
    "timedOut",
  ]);
  expect(Object.keys(await import("mcp-parley/client")).toSorted()).toEqual([
    "CallError",
    "TaskLeftError",
    "connect",
    "outcomes",
    "withTasks",
  ]);
  expect(Object.keys(await import("mcp-parley/drafts"))).toEqual(["drafts"]);
  expect(Object.keys(await import("mcp-parley/oauth"))).toEqual(["oauth"]);
  expect(Object.keys(await import("mcp-parley/console"))).toEqual(["operatorConsole"]);
  expect(Object.keys(await import("mcp-parley/sqlite")).toSorted()).toEqual([
    "migrationSql",
    "sqliteStore",
  ]);
  expect(Object.keys(await import("mcp-parley/durable-object")).toSorted()).toEqual([
    "durableObjectStore",
    "taskObject",
  ]);
  expect(Object.keys(await import("mcp-parley/postgres")).toSorted()).toEqual([
    "StoreUnavailableError",
    "migrationSql",
    "postgresStore",
  ]);
});

test("a store whose driver is not installed says what to install", () => {
  const message = (code: string) =>
    run("node", ["--input-type=module", "--no-warnings", "-e", code], folder).trim();
  const postgres = `import { postgresStore } from "mcp-parley/postgres";
    postgresStore("postgres://localhost/x").migrate().catch((error) => console.log(error.message));`;
  expect(message(postgres)).toBe("postgresStore() needs the package pg. Run: npm install pg");
  const sqlite = `import { sqliteStore } from "mcp-parley/sqlite";
    sqliteStore("x.db").migrate().then(() => console.log("here"), (error) => console.log(error.message));`;
  const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
  const hasSqlite = major > 22 || (major === 22 && minor >= 13);
  expect(message(sqlite)).toBe(
    hasSqlite
      ? "here"
      : "SQLite needs Node 22.13 or later, or the package libsql. On an older Node, run: npm install libsql",
  );
});

test("publint and attw report nothing", () => {
  run(bin("publint"), ["run", "--strict", tarball]);
  run(bin("attw"), [tarball, "--profile", "esm-only"]);
});

test("it depends on the official SDK and nothing else", () => {
  const { dependencies, peerDependencies, peerDependenciesMeta } = manifest();
  expect(dependencies).toBeUndefined();
  const peers = Object.keys(peerDependencies);
  expect(peers.filter((name) => peerDependenciesMeta[name]?.optional !== true)).toEqual([
    "@modelcontextprotocol/server",
  ]);
  expect(peers.filter((name) => peerDependenciesMeta[name]?.optional === true)).toEqual([
    "@modelcontextprotocol/client",
    "@opentelemetry/api",
    "fast-check",
    "libsql",
    "pg",
  ]);
});

type Target = string | { readonly types: string; readonly default: string };

interface Manifest {
  readonly version: string;
  readonly bin: Readonly<Record<string, string>>;
  readonly exports: Readonly<Record<string, Target>>;
  readonly dependencies?: object;
  readonly devDependencies: Readonly<Record<string, string>>;
  readonly peerDependencies: object;
  readonly peerDependenciesMeta: Readonly<Record<string, { readonly optional?: boolean }>>;
}

function manifest(): Manifest {
  return JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
}

const targetsOf = (target: Target) =>
  typeof target === "string" ? [target] : Object.values(target);

function bytesIn(path: string): number {
  return readdirSync(path, { recursive: true, encoding: "utf8" })
    .map((name) => statSync(join(path, name)))
    .reduce((sum, found) => sum + (found.isFile() ? found.size : 0), 0);
}
