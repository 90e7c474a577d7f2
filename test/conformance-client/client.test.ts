// The client scenarios of the official suite, for both protocol revisions. This is stricter than the suite, which
// accepts a scenario that made no check at all.

import { describe, expect, test } from "vitest";
import { installedSuite } from "../conformance/install.ts";
import { complaints, once, passed } from "../conformance/suite.ts";
import type { Run } from "../conformance/suite.ts";
import { requiredScenarios, runRequirements, runScenario } from "./suite.ts";

// What each revision requires, and how many checks that makes. A scenario that ends early makes fewer.
const revisions = [
  { revision: "2026-07-28", scenarios: 32, checks: 380 },
  { revision: "2025-11-25", scenarios: 18, checks: 250 },
];

// Scenarios that also run by name: all that test our code rather than the SDK's OAuth, those that cover most of the
// OAuth, and those that the suite runs without scoring, except two of its extensions
// (`auth/enterprise-managed-authorization`, `auth/wif-jwt-bearer`).
const named = [
  ["2026-07-28", "sep-2322-client-request-state", 5],
  ["2026-07-28", "request-metadata", 5],
  ["2026-07-28", "tools_call", 2],
  ["2026-07-28", "http-standard-headers", 1],
  ["2026-07-28", "http-custom-headers", 5],
  ["2026-07-28", "http-invalid-tool-headers", 12],
  ["2026-07-28", "json-schema-ref-no-deref", 1],
  ["2026-07-28", "auth/scope-step-up", 20],
  ["2026-07-28", "auth/scope-retry-limit", 20],
  ["2026-07-28", "auth/authorization-server-migration", 25],
  ["2026-07-28", "auth/iss-wrong-issuer", 8],
  ["2026-07-28", "auth/client-credentials-jwt", 7],
  ["2026-07-28", "auth/client-credentials-basic", 7],
  ["2026-07-28", "auth/dpop", 13],
  ["2026-07-28", "auth/dpop-nonce", 15],
  ["2026-07-28", "json-schema-2020-12-preservation", 9],
  ["2025-11-25", "initialize", 1],
  ["2025-11-25", "tools_call", 2],
  ["2025-11-25", "elicitation-sep1034-client-defaults", 5],
  ["2025-11-25", "sse-retry", 3],
  ["2025-11-25", "auth/scope-step-up", 20],
] as const;

const suite = once(installedSuite);

describe("the client", () => {
  const runs = new Map(
    revisions.map(({ revision }) => [
      revision,
      once(async () => runRequirements(await suite(), revision)),
    ]),
  );

  test.each(named)("%s: %s, in %i checks", async (revision, scenario, minimum) => {
    const run = await runs.get(revision)?.();
    expectPassed(run, scenario, minimum);
  });

  test.each(revisions)(
    "$revision: every requirement is met, in $scenarios scenarios and $checks checks",
    async ({ revision, scenarios, checks: minimum }) => {
      const run = await runs.get(revision)?.();
      const required = requiredScenarios(await suite(), revision);
      expect(required).toHaveLength(scenarios);
      const found = required.map((scenario) => run?.scenarios.get(scenario) ?? []);
      const wrong = required.flatMap((scenario, index) => {
        const checks = found[index] ?? [];
        const said = passed(checks) === 0 ? ["it passed no check"] : complaints(checks);
        return said.map((complaint) => `${scenario}: ${complaint}`);
      });
      expect(wrong).toEqual([]);
      expect(passed(found.flat())).toBeGreaterThanOrEqual(minimum);
      expect(run?.exitCode).toBe(0);
    },
  );

  test("sep-2322-client-request-state passes on its own, and the program exits cleanly", async () => {
    const scenario = "sep-2322-client-request-state";
    const run = await runScenario(await suite(), scenario);
    expectPassed(run, scenario, 5);
    expect(run.exitCode).toBe(0);
  });
});

function expectPassed(run: Run | undefined, scenario: string, minimum: number): void {
  const checks = run?.scenarios.get(scenario) ?? [];
  expect(complaints(checks)).toEqual([]);
  expect(passed(checks)).toBeGreaterThanOrEqual(minimum);
}
