// Runs the official suite's client scenarios, and reads the checks it has written.

import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import type { Suite } from "../conformance/install.ts";
import { Checks, endWithUs, finished } from "../conformance/suite.ts";
import type { Check, Run } from "../conformance/suite.ts";

/** Of one scenario. The suite starts all of them at once, each a process of its own. */
const scenarioPatienceMs = 120_000;
const patienceMs = 240_000;

const here = fileURLToPath(new URL(".", import.meta.url));
const repository = join(here, "../..");

export interface Program {
  readonly command: string;
  readonly remove: () => void;
}

/** The fixture as JavaScript: forty processes that compile it first would keep a small machine busy for a minute. */
export async function compiledFixture(): Promise<Program> {
  // Packages are found from there.
  const cache = join(repository, "node_modules/.cache");
  mkdirSync(cache, { recursive: true });
  const output = mkdtempSync(join(cache, "parley-conformance-client-"));
  const remove = () => rmSync(output, { recursive: true, force: true });
  try {
    writeFileSync(join(output, "package.json"), '{ "type": "module" }\n');
    const compiler = fileURLToPath(import.meta.resolve("typescript/package.json"));
    const tsc = join(dirname(compiler), "bin/tsc");
    await promisify(execFile)(process.execPath, [tsc, "-p", here, "--outDir", output]);
    const file = join(output, "test/conformance-client/fixture.js");
    return { command: `"${process.execPath}" "${file}"`, remove };
  } catch (error) {
    remove();
    throw error;
  }
}

/** Everything that a revision requires of a client, and what the suite runs besides without scoring it. */
export function runRequirements(suite: Suite, program: Program, revision: string): Promise<Run> {
  return run(suite, program, ["--requirements", revision]);
}

/** One by name. Here the suite also minds how our program ends. */
export function runScenario(suite: Suite, program: Program, scenario: string): Promise<Run> {
  return run(suite, program, ["--scenario", scenario]);
}

/** The names that count. */
export function requiredScenarios(suite: Suite, revision: string): readonly string[] {
  const file = readFileSync(join(suite.folder, "requirements", `${revision}.yaml`), "utf8");
  const [, list = ""] = /^client:\n((?: {2}- .+\n)+)/m.exec(file) ?? [];
  return [...list.matchAll(/- (\S+)/g)].map(([, name = ""]) => name);
}

async function run(
  { node, folder: suite }: Suite,
  { command }: Program,
  which: readonly string[],
): Promise<Run> {
  const output = mkdtempSync(join(tmpdir(), "parley-conformance-client-"));
  const timeout = ["--timeout", String(scenarioPatienceMs)];
  const started = ["--import", endWithUs, join(suite, "dist/index.js"), "client"];
  const args = [...started, "--command", command, ...which, ...timeout, "-o", output];
  try {
    const { exitCode, said } = await finished(node, args, patienceMs);
    const scenarios = writtenTo(output);
    if (scenarios.size === 0) throw new Error(`The suite has run no scenario:\n${said}`);
    return { exitCode, scenarios };
  } finally {
    rmSync(output, { recursive: true, force: true });
  }
}

/** A folder for each scenario, `<scenario>-<time>`; the names of some have a slash in them. */
function writtenTo(output: string): ReadonlyMap<string, readonly Check[]> {
  const files = readdirSync(output, { recursive: true, encoding: "utf8" });
  const written = files.filter((file) => file.endsWith("checks.json"));
  return new Map(
    written.map((file) => {
      const folder = dirname(file).replaceAll("\\", "/");
      const [, scenario = folder] = /^(.+)-\d{4}-\d\d-\d\dT[\d-]+Z$/.exec(folder) ?? [];
      return [scenario, Checks.parse(JSON.parse(readFileSync(join(output, file), "utf8")))];
    }),
  );
}
