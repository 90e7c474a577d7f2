// Breaks the source in a copy of the tree, one rule at a time, and expects a test to fail.
//
// Usage: npm run mutants [-- R7]

import { execFile } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import process from "node:process";
import { ruleMutants } from "../test/mutants/rules.ts";
import type { Mutant } from "../test/mutants/rules.ts";
import { undoMutants } from "../test/mutants/undo.ts";

const tests = [
  "src/replay",
  "src/server",
  "src/tasks/undo.test.ts",
  "src/tasks/versions.test.ts",
  "src/testing/undo.test.ts",
];
const wanted = process.argv[2];
const mutants = [...ruleMutants, ...undoMutants].filter(
  ({ rule }) => wanted === undefined || rule === wanted,
);

const tree = mkdtempSync(join(tmpdir(), "parley-mutants-"));
process.on("exit", () => rmSync(tree, { recursive: true, force: true }));
for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => process.exit(130));
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

/** Resolves to the names of the tests that failed. */
function runTests(): Promise<readonly string[]> {
  const args = [
    "vitest",
    "run",
    "--bail",
    "1",
    "--reporter",
    "json",
    "--testTimeout",
    "5000",
    ...tests,
  ];
  return new Promise((done) => {
    execFile("npx", args, { cwd: tree, timeout: 60_000, maxBuffer: 1 << 26 }, (error, stdout) => {
      if (error === null) return done([]);
      const names = [...stdout.matchAll(/"failed","title":"((?:[^"\\]|\\.)*)"/g)].map(
        ([, name = ""]) => name,
      );
      done(names.length > 0 ? names : ["(the run itself failed or hung)"]);
    });
  });
}

async function survives({ file, find, put, rule, what }: Mutant): Promise<boolean> {
  const path = join(tree, file);
  const original = readFileSync(path, "utf8");
  if (!original.includes(find))
    throw new Error(`${rule}, ${what}: ${file} does not contain this text any more:\n${find}`);
  writeFileSync(path, original.replace(find, put));
  const failed = await runTests();
  writeFileSync(path, original);
  console.log(
    failed.length === 0
      ? `SURVIVED ${rule.padEnd(4)} ${what}`
      : `killed   ${rule.padEnd(4)} ${what}\n              by: ${failed[0]}`,
  );
  return failed.length === 0;
}

const baseline = await runTests();
if (baseline.length > 0)
  throw new Error(`The tests already fail before any rule is broken: ${baseline.join(", ")}`);
let survivors = 0;
for (const mutant of mutants) if (await survives(mutant)) survivors += 1;
console.log(`\n${mutants.length} mutants, ${survivors} survived`);
process.exitCode = survivors === 0 ? 0 : 1;
