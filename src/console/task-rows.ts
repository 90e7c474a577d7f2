// Tasks in a list.

import { fromStore } from "../server/tasks/store-needed.ts";
import { readCause } from "../tasks/execution/other-versions.ts";
import { unreadableIn } from "../tasks/execution/unreadable.ts";
import { places } from "../tasks/sealing.ts";
import type { SeenWorkers, StoreFigures } from "../tasks/store.ts";
import type { TaskListing, TaskQuery } from "../tasks/task-reader.ts";
import type { Status, Wait } from "../tasks/task.ts";
import type { Admitted } from "./operator.ts";
import { Refusal } from "./refusal.ts";
import type { ApiCall } from "./api-call.ts";
import { numberIn, opened, shown, textIn } from "./store-view.ts";
import type { StoreView } from "./store-view.ts";
import { lateMs, reasonFor, silenceMsOf } from "./why.ts";
import type { TaskCounts, TaskList, TaskRow, WaitFacts } from "./wire.ts";

/** A page of tasks. */
export async function listTasks(
  view: StoreView,
  { operator, query }: Pick<ApiCall, "operator" | "query">,
): Promise<TaskList> {
  const limit = Math.max(1, numberIn(query, "limit", 50, 200));
  const wanted = queryIn(query, limit);
  const [tasks, figures, workers] = await Promise.all([
    view.reader.find(wanted),
    fromStore(view.store.figures()),
    fromStore(view.store.workers()),
  ]);
  const rows = await Promise.all(tasks.map((task) => rowOf(view, operator, task, workers)));
  const last = tasks.at(-1);
  const isMore = tasks.length === limit && wanted.stuckMs === undefined;
  return {
    tasks: rows,
    counts: countsOf(figures),
    ...(isMore && last !== undefined && { next: `${last.createdAt}.${last.id}` }),
  };
}

function queryIn(query: URLSearchParams, limit: number): TaskQuery {
  const status = textIn(query, "status");
  if (status !== undefined && !isStatus(status)) {
    throw new Refusal(400, "invalid", `"status" must be one of ${statuses.join(", ")}.`);
  }
  const after = textIn(query, "after");
  const [, createdAt, id = ""] = /^(\d{1,16})\.(.+)$/s.exec(after ?? "") ?? [];
  if (after !== undefined && createdAt === undefined) {
    throw new Refusal(400, "invalid", '"after" must be what the page before returned as "next".');
  }
  // An empty principal stands for calls without one.
  const principal = query.get("principal");
  const isStuck = textIn(query, "stuck");
  return {
    status,
    tool: textIn(query, "tool"),
    principal: principal === null || principal === "" ? undefined : principal.slice(0, 1_000),
    stuckMs: isStuck === undefined || isStuck === "false" ? undefined : lateMs,
    after: createdAt === undefined ? undefined : { createdAt: Number(createdAt), id },
    limit,
  };
}

const statuses: readonly Status[] = [
  "working",
  "input_required",
  "completed",
  "failed",
  "cancelled",
];
const isStatus = (text: string): text is Status => statuses.some((one) => one === text);

export const countsOf = (figures: StoreFigures): TaskCounts => {
  const { live, parked, inputRequired, due, undoing } = figures;
  // A task whose worker has not renewed the lease is held and due.
  return { live, running: Math.max(0, live - parked - due), inputRequired, due, undoing };
};

/** A task as a list shows it. */
export async function rowOf(
  view: StoreView,
  operator: Admitted,
  task: TaskListing,
  { now, workers }: SeenWorkers,
): Promise<TaskRow> {
  const { id, callId, tool, principal, status, statusMessage, worker } = task;
  const { createdAt, updatedAt, dueAt, epoch, fruitless } = task;
  const isAsked = task.waits.some(({ kind }) => kind !== "timer");
  const open = isAsked ? await view.reader.waiting({ taskId: id, limit: 100 }) : [];
  const since = new Map(open.map((wait) => [wait.wire, wait.since]));
  const message =
    statusMessage &&
    shown(view, operator, ({ open: unseal }) => unseal(statusMessage, places.message(callId)));
  const cause = causeOf(view, task);
  const reason = reasonFor(task, {
    now,
    workers,
    silenceMs: silenceMsOf(view.store),
    isToolGone: isToolGone(view, tool),
    cause: operator.values ? cause : undefined,
    unreadable: cause === undefined ? undefined : unreadableIn(cause),
  });
  return {
    id,
    tool,
    ...(principal !== "" && { principal }),
    status,
    ...(message !== undefined && { statusMessage: message }),
    createdAt,
    updatedAt,
    ...(dueAt !== undefined && { dueAt }),
    waits: task.waits.map((wait) => waitFacts(wait, since.get(wait.wire))),
    ...(worker !== undefined && { worker }),
    epoch,
    fruitless,
    ...(reason !== undefined && { why: reason.why, isStuck: reason.isStuck }),
  };
}

/** Why the last run failed. Undefined if it did not, or if the keys here do not open it. */
export const causeOf = (
  { sealer }: StoreView,
  task: Pick<TaskListing, "callId" | "cause">,
): string | undefined => opened(sealer, (open) => readCause(task, open).why);

/** The console of a store has no tools, so it cannot tell. */
export function isToolGone({ inside }: StoreView, tool: string): boolean {
  const tools = [...inside.registrations].filter(({ kind }) => kind === "tool");
  return tools.length > 0 && !tools.some(({ name }) => name === tool);
}

/** A wait as a list shows it. */
function waitFacts(wait: Wait, since: number | undefined): WaitFacts {
  const { key, group, dueAt } = wait;
  return {
    kind: kindOf(wait),
    key,
    ...(group !== undefined && { group }),
    ...(since !== undefined && { since }),
    ...(dueAt !== undefined && { dueAt }),
  };
}

/** What people call a wait. */
export function kindOf(wait: Wait): WaitFacts["kind"] {
  if (wait.needs !== undefined) return "approval";
  return wait.kind === "external" ? "wait" : wait.kind;
}
