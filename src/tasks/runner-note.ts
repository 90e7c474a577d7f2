// What a runner, which runs what is due now and then, leaves in the store: one row among the workers, whose name says how often
// it runs. A process that looks for a worker then knows how long it has to wait for the next run.

import type { SeenWorkers, TaskStore } from "./store.ts";
import { versionOf, workerName } from "./worker-name.ts";

/** What counts as the interval until a second run has shown it. */
const firstIntervalMs = 300_000;

const nameOf = (intervalMs: number, version: string): string =>
  workerName(`runDue-every-${intervalMs}ms`, version);

/** How often the runner with this name runs. Undefined for a worker that stays. */
function intervalOf(worker: string): number | undefined {
  const [, ms] = /^runDue-every-(\d+)ms@/.exec(worker) ?? [];
  return ms === undefined ? undefined : Number(ms);
}

/** Whether a runner is still expected to come back: it has been away for no more than twice its interval. */
export function expectsRunner({ now, workers }: SeenWorkers): boolean {
  return workers.some(({ name, seenAt }) => now - seenAt <= 2 * (intervalOf(name) ?? 0));
}

/**
 * Notes that a run of this version begins. Returns what to call at its end. The interval shrinks slowly, because runs that
 * follow responses come in bursts.
 */
export async function noteRunner(store: TaskStore, worker: string): Promise<() => Promise<void>> {
  const version = versionOf(worker) ?? "";
  const { now, workers } = await store.workers();
  const before = workers.filter(
    ({ name }) => intervalOf(name) !== undefined && versionOf(name) === version,
  );
  const intervals = before.map(({ name, seenAt }) =>
    Math.max(now - seenAt, Math.floor((intervalOf(name) ?? 0) / 2)),
  );
  const note = nameOf(intervals.length === 0 ? firstIntervalMs : Math.max(...intervals), version);
  return async () => {
    await store.renew(note, [], store.leaseMs);
    for (const { name } of before) if (name !== note) await store.leave(name);
  };
}
