// Breaks the source in a copy of the tree, one rule at a time, and expects a test to fail.
//
// Usage: npm run mutants [-- R7]
//
// A mutant first meets the tests that are nearest to its file, which kill nearly all of them in a few seconds. Only a mutant
// that survives those meets all tests. Each core works on a copy of its own.

import { spawn } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join, resolve } from "node:path";
import process from "node:process";
import { ruleMutants } from "../test/mutants/rules.ts";
import type { Mutant } from "../test/mutants/rules.ts";
import { undoMutants } from "../test/mutants/undo.ts";

/** From the start of a mutant's path to the tests that it meets first. */
const nearest: Readonly<Record<string, readonly string[]>> = {
  "src/replay/": ["src/replay"],
  "src/server/": ["src/server/round"],
  "src/tasks/": [
    "src/tasks/undo.test.ts",
    "src/tasks/versions.test.ts",
    "src/tasks/put-off.test.ts",
  ],
};
const all = [
  "src/replay",
  "src/server",
  "src/tasks/undo.test.ts",
  "src/tasks/versions.test.ts",
  "src/tasks/put-off.test.ts",
  "src/testing/undo.test.ts",
];

const wanted = process.argv[2];
const mutants = [...ruleMutants, ...undoMutants].filter(
  ({ rule }) => wanted === undefined || rule === wanted,
);

const folder = mkdtempSync(join(tmpdir(), "parley-mutants-"));
const groups = new Set<number>();
process.on("exit", () => {
  for (const group of groups) end(group);
  rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
});
for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => process.exit(130));

function copyTree(name: string): string {
  const tree = join(folder, name);
  for (const part of [
    "src",
    "test",
    "scripts",
    "package.json",
    "tsconfig.json",
    "vitest.config.ts",
  ]) {
    cpSync(part, join(tree, part), { recursive: true });
  }
  symlinkSync(resolve("node_modules"), join(tree, "node_modules"));
  return tree;
}

// ---------------------------------------------------------------- a run of the tests

/** Beyond these, a test or a run counts as one that hangs. */
interface Limits {
  readonly testMs: number;
  readonly runMs: number;
}

interface Run {
  readonly failed: readonly string[];
  readonly slowestTestMs: number;
  readonly tookMs: number;
}

async function runTests(tree: string, tests: readonly string[], limits: Limits): Promise<Run> {
  const report = join(tree, "report.json");
  rmSync(report, { force: true });
  const startedAt = performance.now();
  const { code, output } = await vitest(tree, limits.runMs, [
    "run",
    "--bail=1",
    "--maxWorkers=1",
    "--reporter=json",
    `--outputFile=${report}`,
    `--testTimeout=${limits.testMs}`,
    `--hookTimeout=${limits.testMs}`,
    ...tests,
  ]);
  const tookMs = performance.now() - startedAt;
  const results = resultsIn(report);
  const failed = results
    .filter(({ status }) => status === "failed")
    .map(({ fullName }) => fullName);
  if (failed.length === 0 && code !== 0)
    failed.push(`the run itself, which ${code === null ? "hung" : "failed"}: ${lastLine(output)}`);
  const slowestTestMs = Math.max(0, ...results.map(({ duration }) => duration ?? 0));
  return { failed, slowestTestMs, tookMs };
}

/** In a group of its own, so that a worker in an endless loop ends with the run. The code is null if the run hung. */
function vitest(
  cwd: string,
  limitMs: number,
  args: readonly string[],
): Promise<{ readonly code: number | null; readonly output: string }> {
  const child = spawn(process.execPath, [resolve("node_modules/vitest/vitest.mjs"), ...args], {
    cwd,
    detached: true,
    stdio: ["ignore", "pipe", "pipe"],
  });
  const group = child.pid ?? 0;
  groups.add(group);
  let output = "";
  const keep = (chunk: string) => void (output = (output + chunk).slice(-4000));
  child.stdout.setEncoding("utf8").on("data", keep);
  child.stderr.setEncoding("utf8").on("data", keep);
  const limit = setTimeout(() => {
    end(group);
    child.kill("SIGKILL");
  }, limitMs);
  return new Promise((done, reject) => {
    child.on("error", reject);
    child.on("exit", (code) => {
      clearTimeout(limit);
      end(group);
      groups.delete(group);
      done({ code, output });
    });
  });
}

/** Ends what is left of a group. */
function end(group: number): void {
  try {
    process.kill(-group, "SIGKILL");
  } catch {
    // Nothing is left.
  }
}

interface TestResult {
  readonly status: string;
  readonly fullName: string;
  readonly duration?: number | null;
}

/** A run that hung has written no report. A file that does not load counts as one test that failed. */
function resultsIn(report: string): readonly TestResult[] {
  let text: string;
  try {
    text = readFileSync(report, "utf8");
  } catch {
    return [];
  }
  const { testResults }: { testResults: readonly FileResult[] } = JSON.parse(text);
  return testResults.flatMap(({ name, status, message, assertionResults }) =>
    status === "failed" && assertionResults.every((result) => result.status !== "failed")
      ? [...assertionResults, { status, fullName: `${name}: ${message}` }]
      : assertionResults,
  );
}

interface FileResult {
  readonly name: string;
  readonly status: string;
  readonly message: string;
  readonly assertionResults: readonly TestResult[];
}

const lastLine = (text: string): string => text.trimEnd().split("\n").at(-1) ?? "";

// ---------------------------------------------------------------- the mutants

/** Resolves to what killed the mutant, and to undefined if it survived. */
async function killerOf(mutant: Mutant, tree: string, limits: Limits): Promise<string | undefined> {
  const { file, find, put, rule, what } = mutant;
  const path = join(tree, file);
  const original = readFileSync(path, "utf8");
  if (!original.includes(find))
    throw new Error(`${rule}, ${what}: ${file} does not contain this text any more:\n${find}`);
  writeFileSync(path, original.replace(find, put));
  try {
    const [, near] = Object.entries(nearest).find(([start]) => file.startsWith(start)) ?? [];
    const first = near === undefined ? undefined : (await runTests(tree, near, limits)).failed[0];
    return first ?? (await runTests(tree, all, limits)).failed[0];
  } finally {
    writeFileSync(path, original);
  }
}

/**
 * Measures the unbroken source, so that the limits follow the speed of this machine and what else runs on it. They are far
 * above what was measured, because a test that is slow must not count as one that fails.
 */
async function measuredLimits(tree: string): Promise<Limits> {
  console.log("Running the tests without a mutant…");
  const { failed, slowestTestMs, tookMs } = await runTests(tree, all, {
    testMs: 300_000,
    runMs: 1_800_000,
  });
  if (failed.length > 0)
    throw new Error(`The tests already fail before any rule is broken: ${failed.join(", ")}`);
  const limits = {
    testMs: Math.round(Math.max(20_000, 10 * slowestTestMs)),
    runMs: Math.round(Math.max(240_000, 10 * tookMs)),
  };
  const seconds = [tookMs, limits.testMs, limits.runMs].map((ms) => Math.round(ms / 1000));
  console.log(`It took ${seconds[0]} s. A test may take ${seconds[1]} s, a run ${seconds[2]} s.\n`);
  return limits;
}

const trees = Array.from({ length: availableParallelism() }, (_, index) => copyTree(`${index}`));
const limits = await measuredLimits(trees[0] ?? "");
const waiting = [...mutants];
const survivors: Mutant[] = [];
let left = mutants.length;

async function workIn(tree: string): Promise<void> {
  for (let mutant = waiting.shift(); mutant !== undefined; mutant = waiting.shift()) {
    const killer = await killerOf(mutant, tree, limits);
    left -= 1;
    if (killer === undefined) survivors.push(mutant);
    const { rule, what } = mutant;
    const outcome = killer === undefined ? "SURVIVED" : "killed  ";
    console.log(`${`${left} left`.padEnd(9)} ${outcome} ${rule.padEnd(4)} ${what}`);
    if (killer !== undefined) console.log(`                   by: ${killer}`);
  }
}

await Promise.all(trees.map(workIn));
console.log(`\n${mutants.length} mutants, ${survivors.length} survived`);
for (const { rule, what, file } of survivors) console.log(`  ${rule}, ${what} (${file})`);
process.exitCode = survivors.length === 0 ? 0 : 1;
