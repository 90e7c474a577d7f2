// What the replicas of the demo have in common, besides their key.

import { join } from "node:path";

export interface Place {
  readonly tasksFile: string;
  readonly cloudFile: string;
  /** A replica that says nothing for so long has lost its tasks. */
  readonly leaseMs: number;
}

export function placeIn(folder: string): Place {
  return {
    tasksFile: join(folder, "tasks.db"),
    cloudFile: join(folder, "cloud.jsonl"),
    leaseMs: 2_000,
  };
}
