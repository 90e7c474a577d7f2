// What it takes to see each sabotage. With fewer pauses, other shapes or a busier queue a broken engine may well
// look whole: each of these was tried until it was found out every time.

import type { Wrong } from "./invariants.ts";
import type { ChaosOptions } from "./run.ts";
import type { Sabotage } from "./sabotage.ts";

export interface Trial extends Pick<
  ChaosOptions,
  "tasks" | "atOnce" | "replicas" | "tools" | "leaseMs" | "gapMs" | "kills" | "pauses"
> {
  /** How it shows, at the least. */
  readonly wrong: Wrong;
}

const paused = { replicas: 3, leaseMs: 800, gapMs: 450, kills: 0, pauses: 1 };
const calm = { replicas: 2, leaseMs: 800, gapMs: 1_500, kills: 0, pauses: 1 };

export const trials: Readonly<Record<Sabotage, Trial>> = {
  // Tasks that are held for long: who wakes up late has to find somebody else at them.
  fence: { ...paused, tasks: 60, atOnce: 60, tools: ["march", "long"], wrong: "history diverged" },
  // Bodies that start without anything being written before, and replicas with room to take over at once.
  lease: {
    ...paused,
    tasks: 150,
    atOnce: 36,
    tools: ["storm", "trouble"],
    wrong: "completed body repeated",
  },
  // Answers while a worker has the task.
  "second-table": {
    ...calm,
    tasks: 24,
    atOnce: 24,
    tools: ["long", "parallel"],
    wrong: "answer lost",
  },
  // Keys that do not sort as they happened.
  unordered: { ...calm, tasks: 24, atOnce: 24, tools: ["race"], wrong: "history diverged" },
};
