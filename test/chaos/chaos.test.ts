// Small runs. `npm run chaos` makes large ones.

import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { describe, expect, onTestFinished, test } from "vitest";
import { childrenOf, commandOf, isAlive, kill } from "../postgres/processes.ts";
import { placeOfRun } from "../run/shared.ts";
import { wrongs } from "./invariants.ts";
import { chaos } from "./run.ts";
import type { ChaosOptions, Report } from "./run.ts";
import { sabotages } from "./sabotage.ts";
import { trials } from "./trials.ts";

const silent = () => {};

function options(more: Partial<ChaosOptions>): ChaosOptions {
  return {
    store: "sqlite",
    tasks: 45,
    atOnce: 45,
    replicas: 3,
    seed: randomBytes(4).toString("hex"),
    leaseMs: 1_000,
    sabotage: undefined,
    mostMs: 60_000,
    gapMs: 500,
    kills: 0.4,
    pauses: 0.5,
    evidence: undefined,
    log: silent,
    ...more,
  };
}

const wrongsIn = ({ violations }: Report) =>
  wrongs.filter((wrong) => violations.some((one) => one.wrong === wrong));

describe.each(["sqlite", "postgres"] as const)("replicas on %s", (store) => {
  test("when replicas are killed, stopped and drained, nothing is lost, repeated or reported in two ways, and what does not end well is undone once", async () => {
    // After a few faults the rest runs undisturbed, so that the test also ends on a slow machine.
    const chosen = options({ store, mostDeeds: 10, cancels: 0.25 });
    const { violations, counts, deeds } = await chaos(chosen);
    expect(violations, `seed ${chosen.seed}`).toEqual([]);
    expect(deeds.kills + deeds.pauses).toBeGreaterThan(0);
    expect(counts.answersAcknowledged).toBeGreaterThan(20);
    expect(counts.cancelled).toBeGreaterThan(0);
    expect(counts.stepsUndone).toBeGreaterThan(0);
  });
});

test.each(["sqlite", "postgres"] as const)(
  "on %s, readers of streams that go from replica to replica hold what is recorded, and nothing else before",
  async (store) => {
    const chosen = options({ store, mostDeeds: 8, streams: true, tasks: 30, atOnce: 30 });
    const { violations, deeds } = await chaos(chosen);
    expect(violations, `seed ${chosen.seed}`).toEqual([]);
    expect(deeds.kills + deeds.pauses).toBeGreaterThan(0);
  },
);

test.each(["sqlite", "postgres"] as const)(
  "on %s, the same holds where short calls of runDue replace every worker",
  async (store) => {
    const chosen = options({ store, mostDeeds: 6, runDue: true, tasks: 30, atOnce: 30 });
    const { violations, deeds } = await chaos(chosen);
    expect(violations, `seed ${chosen.seed}`).toEqual([]);
    expect(deeds.kills + deeds.pauses).toBeGreaterThan(0);
  },
);

test.each(sabotages)(
  "a broken engine is detected: %s",
  async (sabotage) => {
    const { wrong, ...trial } = trials[sabotage];
    const seeds: string[] = [];
    // Most of them are found the first time.
    for (let run = 0; run < 3; run += 1) {
      const chosen = options({ ...trial, sabotage, mostMs: 30_000 });
      seeds.push(chosen.seed);
      const report = await chaos(chosen);
      if (wrongsIn(report).includes(wrong)) return;
    }
    expect.fail(`no "${wrong}" with the seeds ${seeds.join(", ")}`);
  },
  180_000,
);

test("no replica outlives a run that is killed, not even a stopped one", async () => {
  const main = fileURLToPath(new URL("main.ts", import.meta.url));
  const run = spawn(process.execPath, ["--import", "tsx", main, "--tasks", "1000"], {
    stdio: "ignore",
    // The program runs by itself, as `npm run chaos` starts it.
    env: { ...process.env, [placeOfRun]: undefined },
  });
  const pid = run.pid ?? 0;
  onTestFinished(() => kill(pid));
  const isReplica = (child: number) => commandOf(child).includes("replica.js");
  const replicas = () => childrenOf(pid).filter(isReplica);
  await expect.poll(() => replicas().length).toBeGreaterThan(1);
  const left = replicas();
  onTestFinished(() => left.forEach(kill));
  const [, folder = ""] = / (\S+)\/built\//.exec(commandOf(left[0] ?? 0)) ?? [];
  expect(existsSync(folder)).toBe(true);
  for (const replica of left) process.kill(replica, "SIGSTOP");
  kill(pid);
  await expect.poll(() => left.filter(isAlive)).toEqual([]);
  await expect.poll(() => existsSync(folder)).toBe(false);
});
