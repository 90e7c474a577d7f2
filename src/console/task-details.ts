// One task: what it is, its log, its runs, and what the audit says about it.

import { fromStore } from "../server/tasks/store-needed.ts";
import { idempotencyKeyOf } from "../replay/bodies.ts";
import type { Entry } from "../replay/journal.ts";
import { openRecord } from "../tasks/execution/log-records.ts";
import { unreadableIn } from "../tasks/execution/unreadable.ts";
import { openInput } from "../tasks/ownership.ts";
import { openJson, places } from "../tasks/sealing.ts";
import type { SeenWorkers } from "../tasks/store.ts";
import type { LoggedRecord } from "../tasks/task-reader.ts";
import type { TaskRun } from "../tasks/task-runs.ts";
import { isLive } from "../tasks/task.ts";
import type { TaskRecord } from "../tasks/task.ts";
import type { Json } from "../util/json.ts";
import { isObject } from "../util/objects.ts";
import type { ApiCall } from "./api-call.ts";
import { auditOfCall } from "./audit-facts.ts";
import { linksOf } from "./linked-tasks.ts";
import { isPermitted } from "./operator.ts";
import type { Admitted } from "./operator.ts";
import { missingKey, numberIn, opened, shown, taskIn } from "./store-view.ts";
import type { StoreView } from "./store-view.ts";
import { causeOf, rowOf } from "./task-rows.ts";
import { silenceMsOf } from "./why.ts";
import type { EntryFacts, RunFacts, TaskDetails, TaskLog } from "./wire.ts";

/** How many entries come with the task. The page asks for the rest. */
const firstEntries = 500;
const mostEntries = 1_000;

/** A task with its history. */
export async function showTask(
  view: StoreView,
  { operator, id }: Pick<ApiCall, "operator" | "id">,
): Promise<TaskDetails> {
  const task = await taskIn(view, id);
  const [workers, log, runs, audit] = await Promise.all([
    fromStore(view.store.workers()),
    logPage(view, operator, task, 0, firstEntries),
    view.reader.runs(id),
    auditOfCall(view, operator, task.callId),
  ]);
  const row = await rowOf(view, operator, task, workers);
  const input = shown(view, operator, (sealer) => openInput(sealer, task));
  const { callId, expiresAt, logLength, logBytes, undos, result } = task;
  const linked = await linksOf(view, task, input);
  return {
    task: {
      ...row,
      callId,
      expiresAt,
      logLength,
      logBytes,
      undos,
      ...withMember("input", isObject(input) && "arguments" in input ? input.arguments : input),
      ...withMember(
        "result",
        result &&
          shown(view, operator, (sealer) => openJson(sealer, result, places.result(callId))),
      ),
      ...withMember("missingKey", missingKey(view, [task.input, result])),
      ...withMember("cause", operator.values ? causeBeside(view, task) : undefined),
    },
    ...log,
    runs: runs.map((run) => runFacts(run, task, workers, silenceMsOf(view.store))),
    waits: row.waits,
    audit,
    ...(linked !== undefined && { linked }),
    mayCancel: isLive(task) && isPermitted(operator, "act"),
    mayRerun: mayRerun(view, operator, task),
  };
}

/** What the reason does not say already, as it does if no worker can open the task. */
function causeBeside(view: StoreView, task: TaskRecord): string | undefined {
  const cause = causeOf(view, task);
  return cause === undefined || unreadableIn(cause) !== undefined ? undefined : cause;
}

/** Whether a new task can begin with entries of this one: in development, where the code and the keys are. */
export function mayRerun(view: StoreView, operator: Admitted, task: TaskRecord): boolean {
  const { core, registrations } = view.inside;
  const hasTool = [...registrations].some(
    ({ kind, name, definition }) =>
      kind === "tool" && name === task.tool && definition.task !== undefined,
  );
  const isKnown = view.sealer !== undefined && task.rest === undefined && hasTool;
  return core.environment.isDevelopment && isPermitted(operator, "act_for_client") && isKnown;
}

/** Leaves a member out rather than setting it to undefined, as JSON does. */
const withMember = <Name extends string, T>(
  name: Name,
  value: T | undefined,
): { readonly [N in Name]?: T } =>
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- TypeScript does not follow a computed name
  (value === undefined ? {} : { [name]: value }) as { readonly [N in Name]?: T };

function runFacts(
  { epoch, worker, beganAt, endedAt, how }: TaskRun,
  { dueAt = Infinity }: TaskRecord,
  { now, workers }: SeenWorkers,
  silenceMs: number,
): RunFacts {
  const isSilent = workers.some(({ name, seenAt }) => name === worker && now - seenAt > silenceMs);
  return {
    epoch,
    worker,
    ...(beganAt !== undefined && { beganAt }),
    ...(endedAt !== undefined && { endedAt }),
    ...(how !== undefined && { how }),
    ...(isSilent && { isSilent }),
    // The task that a worker holds is due when its lease ends.
    ...(endedAt === undefined && dueAt <= now && { leaseEndedAt: dueAt }),
  };
}

/** More of the log. */
export async function showLog(
  view: StoreView,
  { operator, id, query }: Pick<ApiCall, "operator" | "id" | "query">,
): Promise<TaskLog> {
  const task = await taskIn(view, id);
  const from = numberIn(query, "from", 0, Number.MAX_SAFE_INTEGER);
  const limit = Math.max(1, numberIn(query, "limit", firstEntries, mostEntries));
  return logPage(view, operator, task, from, limit);
}

async function logPage(
  view: StoreView,
  operator: Admitted,
  { id, callId, logLength }: TaskRecord,
  from: number,
  limit: number,
): Promise<TaskLog> {
  const records = await view.reader.log(id, from, limit);
  const end = from + records.length;
  return {
    entries: records.map((record) => entryFacts(view, operator, callId, record)),
    ...(records.length > 0 && end < logLength && { more: end }),
  };
}

function entryFacts(
  { sealer }: StoreView,
  { values }: Admitted,
  callId: string,
  { seq, record, epoch, at, ms, tries }: LoggedRecord,
): EntryFacts {
  const base: EntryFacts = {
    seq,
    bytes: record.length,
    ...withMember("epoch", epoch),
    ...withMember("at", at),
    ...withMember("ms", ms),
    ...withMember("tries", tries),
  };
  const logged = opened(sealer, (open) => openRecord(open, callId, seq, record));
  if (logged === undefined) return base;
  if (logged.kind === "undone") {
    const { key, error } = logged.undone;
    return { ...base, kind: "undone", key, ...(values && withMember("error", error)) };
  }
  if (logged.kind === "cut") {
    const { version, from } = logged;
    if (version !== undefined) return { ...base, kind: "version", key: version };
    return { ...base, kind: "cut", key: String(from) };
  }
  return { ...base, ...entryParts(logged.entry, callId, values) };
}

/** What an entry says. */
export function entryParts(entry: Entry, callId: string, values: boolean): Partial<EntryFacts> {
  const { kind, key } = entry;
  const isStep = kind === "step" || kind === "threw" || kind === "begun";
  return {
    kind,
    key,
    ...(isStep && { idempotencyKey: idempotencyKeyOf(callId, key) }),
    ...("digest" in entry && { digest: entry.digest }),
    ...("via" in entry && typeof entry.via === "string" && { via: entry.via }),
    ...(kind === "begun" && { undo: entry.undo }),
    ...(values && "value" in entry && withMember<"value", Json>("value", entry.value)),
    ...(values && kind === "threw" && { error: `${entry.error.name}: ${entry.error.message}` }),
  };
}
