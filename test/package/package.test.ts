// The package as a stranger gets it: packed, installed in an empty folder, compiled and run.

import { execFileSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { mkdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";

const root = resolve(import.meta.dirname, "../..");
const bin = (name: string) => join(root, "node_modules/.bin", name);
const run = (command: string, args: readonly string[], cwd = root) =>
  execFileSync(command, args, { cwd, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });

let folder: string;
let tarball: string;
let files: readonly string[];

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "parley-package-"));
  run("npm", ["run", "build"]);
  const [packed] = JSON.parse(
    run("npm", ["pack", "--ignore-scripts", "--json", "--pack-destination", folder]),
  ) as [{ filename: string; files: { path: string }[] }];
  tarball = join(folder, packed.filename);
  files = packed.files.map(({ path }) => path);
  // Installed by hand: what npm would put there, without asking a registry for it.
  const modules = join(folder, "node_modules");
  mkdirSync(join(modules, "mcp-parley"), { recursive: true });
  run("tar", ["xzf", tarball, "-C", join(modules, "mcp-parley"), "--strip-components", "1"]);
  for (const dependency of [
    "zod",
    "@modelcontextprotocol",
    "@hono",
    "hono",
    // No driver, and no types of one: a consumer without them must compile.
    "@types/node",
    "undici-types",
  ]) {
    mkdirSync(dirname(join(modules, dependency)), { recursive: true });
    symlinkSync(join(root, "node_modules", dependency), join(modules, dependency));
  }
  cpSync(join(import.meta.dirname, "consumer"), folder, { recursive: true });
  writeFileSync(join(folder, "package.json"), JSON.stringify({ type: "module" }));
}, 120_000);

afterAll(() => rmSync(folder, { recursive: true, force: true }));

test("it holds what it should, and nothing else", () => {
  expect(files).toContain("dist/index.js");
  expect(files).toContain("dist/testing/index.d.ts");
  expect(files).toContain("LICENSE");
  expect(files.filter((file) => /\.test\.|fixture|test-d|\.map$/.test(file))).toEqual([]);
  expect(files.filter((file) => !/^(dist\/|[A-Z]+(\.md)?$|package\.json$)/.test(file))).toEqual([]);
});

test("a consumer compiles with library checks on, and runs", () => {
  const options = ["--strict", "--skipLibCheck", "false", "--exactOptionalPropertyTypes"];
  const target = ["--target", "es2023", "--module", "nodenext", "--types", "node"];
  run(bin("tsc"), [...options, ...target, "consumer.ts"], folder);
  expect(run("node", ["consumer.js"], folder)).toBe("consumer ok\n");
}, 60_000);

test("it can be required from CommonJS", () => {
  const code = 'console.log(Object.keys(require("mcp-parley")).sort().join(" "))';
  expect(run("node", ["--no-warnings", "-e", code], folder).trim()).toBe(
    "ParleyError StepError Unanswered inputRequired memoryStore parley",
  );
});

test("each entry exports exactly these names", async () => {
  expect(Object.keys(await import("mcp-parley")).toSorted()).toEqual([
    "ParleyError",
    "StepError",
    "Unanswered",
    "inputRequired",
    "memoryStore",
    "parley",
  ]);
  expect(Object.keys(await import("mcp-parley/testing")).toSorted()).toEqual([
    "cancelled",
    "crashTest",
    "declined",
    "play",
  ]);
  expect(Object.keys(await import("mcp-parley/client")).toSorted()).toEqual([
    "CallError",
    "TaskLeftError",
    "connect",
    "outcomes",
    "withTasks",
  ]);
  expect(Object.keys(await import("mcp-parley/drafts"))).toEqual(["drafts"]);
  expect(Object.keys(await import("mcp-parley/sqlite")).toSorted()).toEqual([
    "migrationSql",
    "sqliteStore",
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
  expect(message(postgres)).toBe("Postgres needs the package pg: npm install pg");
  const sqlite = `import { sqliteStore } from "mcp-parley/sqlite";
    sqliteStore("x.db").migrate().then(() => console.log("here"), (error) => console.log(error.message));`;
  const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
  const hasSqlite = major > 22 || (major === 22 && minor >= 13);
  expect(message(sqlite)).toBe(
    hasSqlite
      ? "here"
      : "SQLite needs Node 22.13 or later, or the package libsql on older ones: npm install libsql",
  );
});

test("publint and attw have nothing to say", () => {
  run(bin("publint"), ["run", "--strict", tarball]);
  run(bin("attw"), [tarball, "--profile", "esm-only"]);
}, 60_000);

test("it depends on the official SDK and nothing else", () => {
  const manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
    dependencies: object;
    peerDependencies: object;
  };
  expect(Object.keys(manifest.dependencies)).toEqual([
    "@clack/prompts",
    "@modelcontextprotocol/node",
  ]);
  expect(Object.keys(manifest.peerDependencies)).toEqual([
    "@modelcontextprotocol/client",
    "@modelcontextprotocol/server",
    "@opentelemetry/api",
    "libsql",
    "pg",
  ]);
});
