// Runs the tests with other versions of Node: `npm run test:node -- 22 24 26`, or with one version and the names of some
// tests: `npm run test:node -- 24 src/replay`. The versions come from npm and stay in node_modules/.cache.

import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import process from "node:process";
import { nodeIn, nodePackage } from "./node-package.ts";
import { root } from "./package.ts";

const supported = ["20", "22", "24", "26"];
const args = process.argv.slice(2);
const isVersion = (text: string) => /^\d+$/.test(text);
const versions = args.some(isVersion) ? args.filter(isVersion) : supported;
const tests = args.filter((text) => !isVersion(text));

function installed(version: string): string {
  const folder = join(root, "node_modules/.cache/parley-node", version);
  const node = nodeIn(join(folder, "node_modules"));
  if (existsSync(node)) return node;
  console.log(`Installing Node ${version}…`);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "package.json"), '{ "private": true }\n');
  const wanted = `${nodePackage()}@${version}`;
  const npm = ["install", "--prefix", folder, "--ignore-scripts", "--no-audit", "--no-fund"];
  const { status } = spawnSync("npm", [...npm, wanted], {
    cwd: folder,
    stdio: ["ignore", "ignore", "inherit"],
    shell: process.platform === "win32",
  });
  if (status !== 0) throw new Error(`npm could not install ${wanted}.`);
  return node;
}

function run(version: string): boolean {
  const node = installed(version);
  const vitest = join(root, "node_modules/vitest/vitest.mjs");
  // The tests start programs by the path of their own Node, and npm finds it first as well.
  const PATH = `${dirname(node)}${delimiter}${process.env["PATH"]}`;
  console.log(`Node ${version}`);
  const { status } = spawnSync(node, [vitest, "run", ...tests], {
    cwd: root,
    env: { ...process.env, PATH },
    stdio: "inherit",
  });
  return status === 0;
}

const failed = versions.filter((version) => !run(version));
const which = (list: readonly string[]) => list.map((version) => `Node ${version}`).join(", ");
if (failed.length > 0) {
  console.error(`Tests failed on ${which(failed)}.`);
  process.exitCode = 1;
} else console.log(`All tests passed on ${which(versions)}.`);
