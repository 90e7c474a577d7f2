// Tasks that were run again. The new task names the old one in its input. An ended task never changes, so what was made of it
// is kept beside it, under a name that is made from its call.

import { fromStore } from "../server/tasks/store-needed.ts";
import { openJson, sealJson } from "../tasks/sealing.ts";
import type { TaskRecord } from "../tasks/task.ts";
import type { Json } from "../util/json.ts";
import { isObject } from "../util/objects.ts";
import { opened } from "./store-view.ts";
import type { StoreView } from "./store-view.ts";
import type { LinkedTask, TaskDetails } from "./wire.ts";

/** The member of a task's input that names the task it was made of. */
export const rerunMember = "~rerun";

const placeOf = ({ callId }: Pick<TaskRecord, "callId">): string => `${callId}.reruns`;

/** The links of a task in both directions. */
export async function linksOf(
  view: StoreView,
  task: TaskRecord,
  input: Json | undefined,
): Promise<TaskDetails["linked"]> {
  const origin = isObject(input) ? input[rerunMember] : undefined;
  const from = isLink(origin) ? origin : undefined;
  const to = await madeOf(view, task);
  if (from === undefined && to.length === 0) return undefined;
  return { ...(from !== undefined && { from }), ...(to.length > 0 && { to }) };
}

const isLink = (value: unknown): value is LinkedTask =>
  isObject(value) && typeof value["task"] === "string" && typeof value["entries"] === "number";

/** The tasks that were made of this one. */
async function madeOf(view: StoreView, task: TaskRecord): Promise<readonly LinkedTask[]> {
  // Only in development is a task run again.
  if (!view.inside.core.environment.isDevelopment) return [];
  const place = placeOf(task);
  const kept = await fromStore(view.store.spilled(place));
  const list = kept && opened(view.sealer, (sealer) => openJson(sealer, kept, place));
  return Array.isArray(list) ? list.filter(isLink) : [];
}

/** Notes that a task was made of this one. */
export async function noteRerun(
  view: StoreView,
  task: TaskRecord,
  made: LinkedTask,
): Promise<void> {
  const { sealer, store } = view;
  if (sealer === undefined) return;
  const place = placeOf(task);
  const list = [...(await madeOf(view, task)), made].slice(-20);
  const json = list.map(({ task: of, entries, at }) => ({ task: of, entries, at }));
  await fromStore(store.spill(place, sealJson(sealer, json, place), dayMs, task.principal));
}

const dayMs = 24 * 3_600_000;
