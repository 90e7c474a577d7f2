// Runs the official suite against a server, and reads the checks that it wrote.

import { execFile } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { z } from "zod";
import { leash } from "../programs.ts";
import type { Suite } from "./install.ts";

export const Checks = z.array(
  z.object({
    id: z.string(),
    status: z.enum(["SUCCESS", "FAILURE", "WARNING", "SKIPPED", "INFO"]),
    errorMessage: z.string().optional(),
  }),
);
export type Check = z.infer<typeof Checks>[number];

export interface Run {
  readonly exitCode: number;
  readonly scenarios: ReadonlyMap<string, readonly Check[]>;
}

/** The time limit of a whole run, on a busy machine. */
const patienceMs = 240_000;
/** The time limit of one scenario. */
const scenarioPatienceMs = 120_000;

/** Everything that a revision requires of a server, and what the suite runs without scoring. */
export function runSuite(suite: Suite, url: string, revision: string): Promise<Run> {
  return run(suite, url, ["--requirements", revision]);
}

/** What the suite's own reference server does not pass yet and no revision requires. It includes all scenarios of tasks. */
export function runPending(suite: Suite, url: string): Promise<Run> {
  return run(suite, url, ["--suite", "pending"]);
}

async function run({ node, folder }: Suite, url: string, which: readonly string[]): Promise<Run> {
  const output = mkdtempSync(join(tmpdir(), "parley-conformance-"));
  const suite = ["--import", leash.stdin, join(folder, "dist/index.js")];
  const timeout = ["--timeout", String(scenarioPatienceMs)];
  const command = ["server", "--url", url, ...which, ...timeout, "-o", output];
  try {
    const { exitCode, said } = await finished(node, [...suite, ...command]);
    const scenarios = writtenTo(output);
    if (scenarios.size === 0) throw new Error(`The suite ran no scenario:\n${said}`);
    return { exitCode, scenarios };
  } finally {
    rmSync(output, { recursive: true, force: true });
  }
}

/** The names of the scenarios that count. The suite also runs others, whose failures do not affect its exit code. */
export function requiredScenarios({ folder }: Suite, revision: string): readonly string[] {
  const file = readFileSync(join(folder, "requirements", `${revision}.yaml`), "utf8");
  const [, list = ""] = /^server:\n((?: {2}- .+\n)+)/m.exec(file) ?? [];
  return [...list.matchAll(/- (\S+)/g)].map(([, name = ""]) => name);
}

/** Runs the suite. It ends with this process, and in any case when its time is up. */
export function finished(
  node: string,
  args: readonly string[],
  timeout: number = patienceMs,
): Promise<{ readonly exitCode: number; readonly said: string }> {
  const bounds = { timeout, killSignal: "SIGKILL", maxBuffer: 1 << 26 } as const;
  return new Promise((resolve, reject) => {
    execFile(node, args, bounds, (error, stdout, stderr) => {
      const exitCode = error === null ? 0 : error.code;
      if (typeof exitCode === "number") return resolve({ exitCode, said: stdout + stderr });
      reject(new Error("The suite did not finish.", { cause: error }));
    });
  });
}

/** The suite writes a folder for each scenario: `server-<scenario>-<time>`. */
function writtenTo(output: string): ReadonlyMap<string, readonly Check[]> {
  const folders = readdirSync(output).map((folder) => {
    const [, scenario = folder] = /^server-(.+)-\d{4}-\d\d-\d\dT[\d-]+Z$/.exec(folder) ?? [];
    const file = readFileSync(join(output, folder, "checks.json"), "utf8");
    return [scenario, Checks.parse(JSON.parse(file))] as const;
  });
  return new Map(folders);
}

export function complaints(checks: readonly Check[]): readonly string[] {
  return checks
    .filter(({ status }) => status === "FAILURE" || status === "WARNING")
    .map(({ id, status, errorMessage = "" }) => `${status} ${id}: ${errorMessage}`);
}

export function passed(checks: readonly Check[]): number {
  return checks.filter(({ status }) => status === "SUCCESS").length;
}

/** Makes the value on the first call, and returns the same one from then on. */
export function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => (made ??= make());
}
