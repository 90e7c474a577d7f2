// Orphaned tasks: they should run, and no worker takes them up. Either no worker runs, or none has their tool any more.

import { defaultTaskLimits } from "../../tasks/limits.ts";
import type { TaskStore } from "../../tasks/store.ts";
import { isLive } from "../../tasks/task.ts";
import type { TaskRecord } from "../../tasks/task.ts";
import { exit } from "../command.ts";
import type { ExitCode, Io } from "../command.ts";
import type { Canceller } from "../audit/record-cancellation.ts";
import { counted } from "../screen/amounts.ts";
import { plainJson, plainLine } from "../screen/plain.ts";
import { whyItStaysDue } from "./who-runs.ts";

/** Which tasks `requeue` accepts. */
export const requeueable = {
  stuckAfter: defaultTaskLimits.fruitlessClaims,
  keepMs: defaultTaskLimits.keepMs,
} as const;

/** How long a task may be due before it counts as orphaned. A worker looks for due tasks every second. */
const graceMs = 30_000;

/** Whether a task should have run for some time: no worker has claimed it, or the lease of its worker is over. */
export const isOrphaned = (task: TaskRecord, now: number): boolean =>
  isLive(task) && task.dueAt !== undefined && task.dueAt <= now - graceMs;

const pageSize = 100;
const progressEvery = 500;

/** All tasks of a store, newest first. */
export async function* everyTask(store: TaskStore): AsyncGenerator<TaskRecord, void> {
  let after: { readonly createdAt: number; readonly id: string } | undefined;
  for (;;) {
    const page = await store.list({ principal: undefined, after, limit: pageSize });
    yield* page;
    const last = page.at(-1);
    if (last === undefined || page.length < pageSize) return;
    after = { createdAt: last.createdAt, id: last.id };
  }
}

const done = { cancel: "cancelled", requeue: "requeued" } as const;

/** Cancels the orphaned tasks, or requeues them if there is nothing to cancel them with. Without `isSure` it only counts. */
export async function actOnOrphans(
  store: TaskStore,
  canceller: Canceller | undefined,
  { out, err }: Io,
  { isSure, isJson }: { readonly isSure: boolean; readonly isJson: boolean },
): Promise<ExitCode> {
  const verb = canceller === undefined ? "requeue" : "cancel";
  const { now } = await store.figures();
  const found = new Map<string, string>();
  for await (const task of everyTask(store)) {
    if (isOrphaned(task, now)) found.set(task.id, task.tool);
  }
  const byTool = countByTool(found.values());
  if (!isSure || found.size === 0) {
    const preview = { parley: 1, orphaned: found.size, byTool, tasks: [...found.keys()] };
    out(isJson ? `${plainJson({ ...preview, [done[verb]]: 0 })}\n` : previewText(verb, byTool));
    if (found.size > 0 && canceller?.caution !== undefined) err(`${canceller.caution}\n`);
    return exit.done;
  }
  let changed = 0;
  let looked = 0;
  for (const id of found.keys()) {
    if (await (canceller ? cancelOrphan(store, id, canceller) : requeueOrphan(store, id))) {
      changed += 1;
    }
    looked += 1;
    if (looked % progressEvery === 0 && !isJson) err(`${looked} of ${found.size} …\n`);
  }
  for (const warning of canceller?.warnings ?? []) err(`${warning}\n`);
  const left = found.size - changed;
  if (isJson) {
    out(`${plainJson({ parley: 1, orphaned: found.size, byTool, [done[verb]]: changed })}\n`);
    return exit.done;
  }
  out(`${counted(changed, "task")} ${done[verb]}.\n`);
  const why = canceller ? undefined : await whyItStaysDue(store, Object.keys(byTool));
  if (why !== undefined) err(`${why}\n`);
  if (left > 0) out(`Not changed, because they have run or ended meanwhile: ${left}.\n`);
  return exit.done;
}

/** Looks once more, because a worker may have taken it up meanwhile. */
async function cancelOrphan(store: TaskStore, id: string, canceller: Canceller): Promise<boolean> {
  const { now } = await store.figures();
  const task = await store.read(id);
  if (task === undefined || !isOrphaned(task, now)) return false;
  return (await canceller.cancel(id))?.status === "cancelled";
}

const requeueOrphan = async (store: TaskStore, id: string): Promise<boolean> =>
  (await store.requeue(id, requeueable))?.isRequeued === true;

function countByTool(tools: Iterable<string>): Readonly<Record<string, number>> {
  const counts = new Map<string, number>();
  for (const tool of tools) counts.set(tool, (counts.get(tool) ?? 0) + 1);
  return Object.fromEntries([...counts].toSorted(([, one], [, other]) => other - one));
}

function previewText(verb: "cancel" | "requeue", byTool: Readonly<Record<string, number>>): string {
  const counts = Object.values(byTool);
  const total = counts.reduce((sum, count) => sum + count, 0);
  if (total === 0) return "The store has no orphaned tasks.\n";
  const tools = Object.entries(byTool).map(
    ([tool, count]) => `  ${count}  ${plainLine(tool, 40)}\n`,
  );
  return (
    `${total === 1 ? "1 task is" : `${total} tasks are`} orphaned: due for more than ${graceMs / 1_000} s, and no worker has taken ${total === 1 ? "it" : "them"} up.\n` +
    `${tools.join("")}Nothing was changed. Run the command again with --yes to ${verb} ${total === 1 ? "it" : "them"}.\n`
  );
}
