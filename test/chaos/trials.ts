// The conditions that reveal each sabotage. With fewer pauses, other handlers or a busier queue, a broken engine may
// look correct, so each of these was adjusted until the sabotage was found every time.

import type { Wrong } from "./invariants.ts";
import type { ChaosOptions } from "./run.ts";
import type { Sabotage } from "./sabotage.ts";

export interface Trial extends Pick<
  ChaosOptions,
  "tasks" | "atOnce" | "replicas" | "tools" | "leaseMs" | "gapMs" | "kills" | "pauses" | "mostDeeds"
> {
  /** The findings that it causes at least. */
  readonly wrong: Wrong;
}

const paused = { replicas: 3, leaseMs: 800, gapMs: 450, kills: 0, pauses: 1 };
const calm = { replicas: 2, leaseMs: 800, gapMs: 1_500, kills: 0, pauses: 1 };

const streaming = {
  replicas: 3,
  leaseMs: 800,
  gapMs: 300,
  kills: 0.5,
  pauses: 0.5,
  tasks: 16,
  atOnce: 16,
  // The rest runs undisturbed, so that the run ends soon.
  mostDeeds: 8,
  tools: ["stream"],
};

export const trials: Readonly<Record<Sabotage, Trial>> = {
  // Tasks that are held for long, so that a worker that wakes up late finds another one running them.
  fence: { ...paused, tasks: 60, atOnce: 60, tools: ["march", "long"], wrong: "history diverged" },
  // Bodies that start without a write before them, and replicas with room to take over at once.
  lease: {
    ...paused,
    tasks: 150,
    atOnce: 36,
    tools: ["storm", "trouble"],
    wrong: "completed body repeated",
  },
  // Answers that arrive while a worker holds the task.
  "second-table": {
    ...calm,
    tasks: 24,
    atOnce: 24,
    tools: ["long", "parallel"],
    wrong: "answer lost",
  },
  // Tasks that are taken over while their bodies stream.
  "stream-epoch": { ...streaming, wrong: "stream mixed" },
  "stream-reset": { ...streaming, wrong: "stream mixed" },
  "stream-delete": { ...streaming, wrong: "part left behind" },
  // Keys whose order is not the order of events.
  unordered: { ...calm, tasks: 24, atOnce: 24, tools: ["race"], wrong: "history diverged" },
};
