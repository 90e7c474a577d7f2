// `parley init` for a user who has only the package. The test installs, tests, type-checks and calls what it writes.

import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { beforeAll, afterAll, expect, test } from "vitest";
import type { Packed } from "../run/pack.ts";
import { askRun } from "../run/shared.ts";
import { parley as inProcess } from "./run.ts";

const run = (command: string, args: readonly string[], cwd: string) =>
  promisify(execFile)(command, [...args], { cwd, timeout: 280_000 });

const parley = (args: readonly string[], cwd: string) => inProcess(args, { cwd });

let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "parley-init-"));
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

test("the new project installs, passes its test and its type check, and can be called", async () => {
  const { tarball } = await askRun<Packed>("packed");
  const { stdout, stderr } = await parley(["init", "my-server"], folder);
  expect(stdout).toContain("cd my-server && npm install && npm test");
  expect(stderr.split("\n").filter((line) => line.includes("created"))).toHaveLength(6);

  const mine = join(folder, "my-server");
  const manifest = readFileSync(join(mine, "package.json"), "utf8");
  // The package that was just built, instead of the one in the registry.
  const here = manifest.replace(
    /"mcp-parley": ".*?"/,
    `"mcp-parley": ${JSON.stringify(`file:${tarball}`)}`,
  );
  expect(here).not.toBe(manifest);
  writeFileSync(join(mine, "package.json"), here);
  await run("npm", ["install", "--prefer-offline", "--no-audit", "--no-fund"], mine);

  expect((await run("npm", ["test"], mine)).stdout).toMatch(/Tests.*4 passed/);
  await run("npm", ["run", "check"], mine);
  writeFileSync(join(mine, "answers.json"), JSON.stringify({ time: "20:00", sure: true }));
  const call = [
    "parley",
    "call",
    "server.ts",
    "book_table",
    "guests=2",
    "--answers",
    "answers.json",
  ];
  const called = await run("npx", call, mine);
  expect(called.stdout).toContain("Booked table 4 for 2 at 20:00.");
});

test("files that exist are never changed", async () => {
  const mine = join(folder, "Mine of old");
  mkdirSync(mine);
  writeFileSync(join(mine, "package.json"), '{ "name": "old" }');
  writeFileSync(join(mine, "app.ts"), "// mine");
  const { stderr } = await parley(["init", "."], mine);
  expect(readFileSync(join(mine, "package.json"), "utf8")).toBe('{ "name": "old" }');
  expect(readFileSync(join(mine, "app.ts"), "utf8")).toBe("// mine");
  expect(stderr).toContain("exists   app.ts");
  expect(stderr).toContain("Your package.json was not changed. Run these commands to complete it:");
  expect(stderr).toContain("npm install @modelcontextprotocol/server mcp-parley zod");
  expect(readdirSync(mine).toSorted()).toEqual([
    ".gitignore",
    "app.test.ts",
    "app.ts",
    "package.json",
    "server.ts",
    "tsconfig.json",
  ]);
  expect((await parley(["init", "."], mine)).stderr).not.toContain("created");
});

test("the name of the folder becomes the name of the package", async () => {
  await parley(["init", "My Ünusual server!"], folder);
  const text = readFileSync(join(folder, "My Ünusual server!", "package.json"), "utf8");
  expect(JSON.parse(text)).toMatchObject({ name: "my-nusual-server", private: true });
});

test("says what is missing if only the package was installed", async () => {
  const mine = join(folder, "installed");
  mkdirSync(mine);
  const manifest = { name: "installed", dependencies: { "mcp-parley": "^0.1.0" } };
  writeFileSync(join(mine, "package.json"), JSON.stringify(manifest));
  const { stderr } = await parley(["init", "."], mine);
  expect(stderr).toContain('npm pkg set type=module scripts.dev="parley dev server.ts"');
});
