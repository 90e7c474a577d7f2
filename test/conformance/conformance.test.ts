// The official conformance suite for both protocol revisions, against the fixture served in every way.
//
// This is stricter than the suite itself, which accepts warnings, and scenarios that made no check at all. The tasks
// extension is tested on every store that outlives a process.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { memoryStore } from "mcp-parley";
import type { Store } from "mcp-parley";
import { postgresStore } from "mcp-parley/postgres";
import { sqliteStore } from "mcp-parley/sqlite";
import { afterAll, describe, expect, test } from "vitest";
import { freshDatabase } from "../postgres/database.ts";
import { installedSuite } from "./install.ts";
import { ways } from "./serve.ts";
import { complaints, once, passed, requiredScenarios, runPending, runSuite } from "./suite.ts";

// What each revision requires, and how many checks that makes. A scenario that ends early makes fewer.
const revisions = [
  { revision: "2026-07-28", scenarios: 37, checks: 120 },
  { revision: "2025-11-25", scenarios: 30, checks: 70 },
];

// Scenarios that also run by name: those that test what Parley itself does, and those that the suite runs without
// scoring. In most of them, the last check is that every message was valid.
const named = [
  ["2026-07-28", "input-required-result-basic-elicitation", 3],
  ["2026-07-28", "input-required-result-basic-sampling", 3],
  ["2026-07-28", "input-required-result-basic-list-roots", 3],
  ["2026-07-28", "input-required-result-request-state", 3],
  ["2026-07-28", "input-required-result-multiple-input-requests", 3],
  ["2026-07-28", "input-required-result-multi-round", 4],
  ["2026-07-28", "input-required-result-missing-input-response", 2],
  ["2026-07-28", "input-required-result-non-tool-request", 3],
  ["2026-07-28", "input-required-result-result-type", 2],
  ["2026-07-28", "input-required-result-unsupported-methods", 2],
  ["2026-07-28", "input-required-result-tampered-state", 2],
  ["2026-07-28", "input-required-result-capability-check", 2],
  ["2026-07-28", "input-required-result-ignore-extra-params", 2],
  ["2026-07-28", "input-required-result-validate-input", 3],
  ["2026-07-28", "json-schema-2020-12", 8],
  ["2026-07-28", "http-header-validation", 14],
  ["2026-07-28", "http-custom-header-server-validation", 10],
  ["2025-11-25", "json-schema-2020-12", 8],
  ["2025-11-25", "server-session-lifecycle", 3],
] as const;

// The first test that needs it starts it, so that an error counts as a failure of that test and is reported.
const suite = once(installedSuite);

// All ways run at once, because a run waits more than it computes.
describe.concurrent.each(["direct", "over the SDK", "attached"] as const)("served %s", (way) => {
  const listening = once(() => ways[way](0, memoryStore()));
  const runs = new Map(
    revisions.map(({ revision }) => [
      revision,
      once(async () => runSuite(await suite(), (await listening()).url, revision)),
    ]),
  );

  afterAll(async () => (await listening()).close());

  test.each(named)("%s: %s, in %i checks", async (revision, scenario, minimum) => {
    const run = await runs.get(revision)?.();
    const checks = run?.scenarios.get(scenario) ?? [];
    expect(complaints(checks)).toEqual([]);
    expect(passed(checks)).toBeGreaterThanOrEqual(minimum);
  });

  test.each(revisions)(
    "$revision: every requirement is met, in $scenarios scenarios and $checks checks",
    async ({ revision, scenarios, checks: minimum }) => {
      const run = await runs.get(revision)?.();
      const required = requiredScenarios(await suite(), revision);
      expect(required).toHaveLength(scenarios);
      const found = required.map((scenario) => ({
        scenario,
        checks: run?.scenarios.get(scenario) ?? [],
      }));
      const wrong = found.flatMap(({ scenario, checks }) => {
        const said = checks.length === 0 ? ["it made no check"] : complaints(checks);
        return said.map((complaint) => `${scenario}: ${complaint}`);
      });
      expect(wrong).toEqual([]);
      expect(passed(found.flatMap(({ checks }) => checks))).toBeGreaterThanOrEqual(minimum);
      expect(run?.exitCode).toBe(0);
    },
  );
});

// How many checks each scenario makes if it passes. The suite always skips `tasks-status-notifications`.
const taskScenarios = [
  ["tasks-lifecycle", 8],
  ["tasks-capability-negotiation", 4],
  ["tasks-wire-fields", 3],
  ["tasks-request-state-removal", 2],
  ["tasks-mrtr-input", 3],
  ["tasks-request-headers", 4],
  ["tasks-dispatch-and-envelope", 8],
  ["tasks-required-task-error", 2],
  ["tasks-mrtr-composition", 1],
] as const;

describe.concurrent.each([
  ["direct", "sqlite"],
  ["over the SDK", "sqlite"],
  ["attached", "sqlite"],
  ["direct", "postgres"],
  ["attached", "postgres"],
] as const)("tasks, served %s, on %s", (way, kind) => {
  const place = once(() => places[kind]());
  const listening = once(async () => ways[way](0, (await place()).store));
  const run = once(async () => runPending(await suite(), (await listening()).url));

  afterAll(async () => {
    await (await listening()).close();
    await (await place()).end();
  });

  test.each(taskScenarios)("%s, in %i checks", async (scenario, minimum) => {
    const { scenarios, exitCode } = await run();
    const checks = scenarios.get(scenario) ?? [];
    expect(complaints(checks)).toEqual([]);
    expect(passed(checks)).toBeGreaterThanOrEqual(minimum);
    expect(exitCode).toBe(0);
  });
});

interface Place {
  readonly store: Store;
  readonly end: () => Promise<void>;
}

const places = {
  sqlite: async (): Promise<Place> => {
    const folder = mkdtempSync(join(tmpdir(), "parley-conformance-"));
    const store = sqliteStore(join(folder, "tasks.db"));
    const end = async () => {
      await store.close();
      rmSync(folder, { recursive: true });
    };
    return { store, end };
  },
  postgres: async (): Promise<Place> => {
    const { url, stop } = await freshDatabase();
    const store = postgresStore(url);
    const end = async () => {
      await store.close();
      await stop();
    };
    return { store, end };
  },
};
