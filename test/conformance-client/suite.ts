// Runs the client scenarios of the official suite, and reads the checks that it wrote.

import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import process from "node:process";
import type { Suite } from "../conformance/install.ts";
import { Checks, finished } from "../conformance/suite.ts";
import type { Check, Run } from "../conformance/suite.ts";
import { leash, scriptOf } from "../programs.ts";

/** For one scenario. The suite starts all of them at once, each in its own process. */
const scenarioPatienceMs = 120_000;
const patienceMs = 240_000;

/**
 * The suite's servers drop a connection that is idle for five seconds. With forty clients on a busy machine, the next
 * request of one of them can cross that, and is lost. So they keep connections for as long as a scenario may take.
 */
const keepAlive =
  "data:text/javascript," +
  encodeURIComponent(
    `import http from "node:http";
     import { syncBuiltinESMExports } from "node:module";
     const { createServer } = http;
     http.createServer = (...args) =>
       Object.assign(createServer(...args), { keepAliveTimeout: ${scenarioPatienceMs} });
     syncBuiltinESMExports();`,
  );

/** What the suite starts for each scenario. */
const command = `"${process.execPath}" "${scriptOf("test/conformance-client/fixture.ts")}"`;

/** Everything that a revision requires of a client, and what the suite runs without scoring. */
export function runRequirements(suite: Suite, revision: string): Promise<Run> {
  return run(suite, ["--requirements", revision]);
}

/** Runs one scenario by name. Here the suite also checks the exit code of the program. */
export function runScenario(suite: Suite, scenario: string): Promise<Run> {
  return run(suite, ["--scenario", scenario]);
}

/** The names of the scenarios that are scored. */
export function requiredScenarios(suite: Suite, revision: string): readonly string[] {
  const file = readFileSync(join(suite.folder, "requirements", `${revision}.yaml`), "utf8");
  const [, list = ""] = /^client:\n((?: {2}- .+\n)+)/m.exec(file) ?? [];
  return [...list.matchAll(/- (\S+)/g)].map(([, name = ""]) => name);
}

async function run({ node, folder: suite }: Suite, which: readonly string[]): Promise<Run> {
  const output = mkdtempSync(join(tmpdir(), "parley-conformance-client-"));
  const timeout = ["--timeout", String(scenarioPatienceMs)];
  const started = [
    "--import",
    leash.stdin,
    "--import",
    keepAlive,
    join(suite, "dist/index.js"),
    "client",
  ];
  const args = [...started, "--command", command, ...which, ...timeout, "-o", output];
  try {
    const { exitCode, said } = await finished(node, args, patienceMs);
    const scenarios = writtenTo(output);
    if (scenarios.size === 0) throw new Error(`The suite ran no scenario:\n${said}`);
    return { exitCode, scenarios };
  } finally {
    rmSync(output, { recursive: true, force: true });
  }
}

/** The suite writes a folder for each scenario, `<scenario>-<time>`. Some names contain a slash. */
function writtenTo(output: string): ReadonlyMap<string, readonly Check[]> {
  const files = readdirSync(output, { recursive: true, encoding: "utf8" });
  const written = files.filter((file) => file.endsWith("checks.json"));
  return new Map(
    written.map((file) => {
      const folder = dirname(file).replaceAll("\\", "/");
      const [, scenario = folder] = /^(.+)-\d{4}-\d\d-\d\dT[\d-]+Z$/.exec(folder) ?? [];
      const checks = Checks.parse(JSON.parse(readFileSync(join(output, file), "utf8")));
      return [scenario, explained(checks, join(output, folder, "stderr.txt"))];
    }),
  );
}

/** A check that failed also says what our program printed. */
function explained(checks: readonly Check[], errors: string): readonly Check[] {
  const printed = existsSync(errors) ? readFileSync(errors, "utf8").slice(-2_000) : "";
  return checks.map((check) =>
    check.status === "FAILURE"
      ? { ...check, errorMessage: `${check.errorMessage ?? ""}\n${printed}` }
      : check,
  );
}
