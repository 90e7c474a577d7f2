// Runs all static checks, two at a time, and shows what each of them found. Unlike a chain with `&&` it does not stop at
// the first failure, and it does not leave a core idle.

import { spawn } from "node:child_process";
import process from "node:process";
import { root } from "./package.ts";

/** The scripts in package.json, the slowest of them first. */
const checks = ["typecheck", "api:check", "lint", "lint:unused", "docs:check", "format:check"];

interface Outcome {
  readonly name: string;
  readonly hasPassed: boolean;
}

/** The output is shown when the check has ended, so that those of two checks do not mix. */
function run(name: string): Promise<Outcome> {
  const child = spawn("npm", ["run", "--silent", name], {
    cwd: root,
    stdio: ["ignore", "pipe", "pipe"],
    shell: process.platform === "win32",
  });
  let output = "";
  const keep = (chunk: string) => void (output += chunk);
  child.stdout.setEncoding("utf8").on("data", keep);
  child.stderr.setEncoding("utf8").on("data", keep);
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code) => {
      const hasPassed = code === 0;
      console.log(`${hasPassed ? "✓" : "✖"} npm run ${name}`);
      if (!hasPassed) console.log(output.trimEnd());
      resolve({ name, hasPassed });
    });
  });
}

const waiting = [...checks];
const outcomes: Outcome[] = [];
async function runInTurn(): Promise<void> {
  for (let name = waiting.shift(); name !== undefined; name = waiting.shift())
    outcomes.push(await run(name));
}
await Promise.all([runInTurn(), runInTurn()]);

const failed = outcomes.filter(({ hasPassed }) => !hasPassed).map(({ name }) => name);
if (failed.length > 0) {
  console.error(`Failed: ${failed.join(", ")}.`);
  process.exitCode = 1;
}
