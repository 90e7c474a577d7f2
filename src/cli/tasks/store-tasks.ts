// Lists, shows, cancels or requeues tasks in their store, without their server. The answers in the store stay sealed.

import { CallError } from "../../client/index.ts";
import type { TaskStore } from "../../tasks/store.ts";
import { isUndoing } from "../../tasks/task.ts";
import type { TaskRecord, Wait } from "../../tasks/task.ts";
import { Canceller } from "../audit/record-cancellation.ts";
import type { CancelOptions } from "../audit/record-cancellation.ts";
import { tellFailure } from "../call/outcome.ts";
import { exit, UsageError } from "../command.ts";
import type { ExitCode, Io } from "../command.ts";
import { plainJson, plainLine } from "../screen/plain.ts";
import { PostgresStore } from "../../tasks/stores/postgres/postgres-store.ts";
import { SqliteStore } from "../../tasks/stores/sqlite/sqlite-store.ts";
import { table } from "../screen/table.ts";
import { counted, duration } from "../screen/amounts.ts";
import { actOnOrphans, everyTask, isOrphaned, requeueable } from "./orphans.ts";
import { agreedOn, openWaits, stateOf } from "./task-state.ts";
import { howToMigrate, isPostgres, missingMigrations } from "./migrations.ts";

interface StoreValues extends CancelOptions {
  readonly store: string;
  readonly schema?: string | undefined;
  readonly limit?: string | undefined;
  readonly json?: boolean | undefined;
  readonly orphaned?: boolean | undefined;
  readonly yes?: boolean | undefined;
}

/** Runs `parley tasks <verb> --store`. */
export async function tasksInStore(
  verb: string,
  taskId: string | undefined,
  values: StoreValues,
  io: Io,
): Promise<ExitCode> {
  const { store: target, schema, limit = "100", json: isJson = false } = values;
  const { orphaned: isForOrphans = false, yes: isSure = false } = values;
  if (verb === "watch" || verb === "answer") {
    throw new UsageError(
      `tasks ${verb} needs the server, because questions and answers are sealed in the store. Pass the URL of the server instead of --store.`,
    );
  }
  const most = Number(limit);
  if (!Number.isInteger(most) || most < 1)
    throw new UsageError("--limit takes a whole number of at least 1.");
  if (isForOrphans && verb !== "cancel" && verb !== "requeue")
    throw new UsageError("--orphaned is for tasks cancel and tasks requeue.");
  if (isForOrphans && taskId !== undefined)
    throw new UsageError(`tasks ${verb}: pass the id of a task or --orphaned, not both.`);
  const ofCancel = (["name", "principal", "keys-file"] as const).find((one) => values[one]);
  if (ofCancel !== undefined && verb !== "cancel")
    throw new UsageError(`--${ofCancel} is for tasks cancel --store.`);
  if (isSure && !isForOrphans) throw new UsageError("--yes is for --orphaned.");
  if (verb !== "ls" && !isForOrphans && taskId === undefined)
    throw new UsageError(`tasks ${verb}: pass the id of a task.`);
  try {
    return await withStore(target, schema, async (store) => {
      const canceller = verb === "cancel" ? await Canceller.of(store, values, io.env) : undefined;
      if (isForOrphans) return actOnOrphans(store, canceller, io, { isSure, isJson });
      if (taskId === undefined || verb === "ls") return list(store, most, io, isJson);
      if (verb === "requeue") return requeue(store, taskId, io, isJson);
      if (canceller !== undefined) return cancel(store, canceller, taskId, io, isJson);
      return get(store, taskId, io, isJson);
    });
  } catch (error) {
    if (error instanceof UsageError) throw error;
    return tellFailure(error, io, isJson);
  }
}

async function list(store: TaskStore, most: number, { out }: Io, isJson: boolean) {
  const { now } = await store.figures();
  const found = await listTasks(store, most);
  if (isJson) out(`${plainJson({ parley: 1, tasks: found.map((task) => taskJson(task, now)) })}\n`);
  else if (found.length === 0) out("The store has no tasks.\n");
  else out(table([header, ...found.map((task) => taskFacts(task, now))]));
  return exit.done;
}

async function get(store: TaskStore, taskId: string, io: Io, isJson: boolean) {
  await show(await store.read(taskId), store, io, isJson);
  return exit.done;
}

async function cancel(
  store: TaskStore,
  canceller: Canceller,
  taskId: string,
  io: Io,
  isJson: boolean,
) {
  const task = await canceller.cancel(taskId);
  await show(task, store, io, isJson);
  for (const warning of canceller.warnings) io.err(`${warning}\n`);
  return task?.status === "cancelled" ? exit.done : exit.failed;
}

async function requeue(store: TaskStore, taskId: string, io: Io, isJson: boolean) {
  const done = await store.requeue(taskId, requeueable);
  if (done?.isRequeued === false) {
    const { now } = await store.figures();
    throw new CallError("refused", whyNotRequeued(done.task, now));
  }
  await show(done?.task, store, io, isJson);
  return exit.done;
}

function whyNotRequeued({ status, rest, worker, dueAt, waits }: TaskRecord, now: number): string {
  if (rest !== undefined)
    return "The task is over and its contents are deleted. Call the tool again.";
  if (status === "failed") {
    return "The task failed with an error of its own, so it is not run again. Call the tool again.";
  }
  if (status === "completed" || status === "cancelled") {
    return `The task is ${status}, so it is not run again.`;
  }
  if (worker !== undefined) {
    const left = duration(Math.max(0, (dueAt ?? now) - now));
    return (
      `Worker ${plainLine(worker, 60)} holds the task, for another ${left}. ` +
      "If that worker is gone, another one takes the task up when this time is over."
    );
  }
  const waiting = waits.map(waitName).join(", ");
  return `The task is not stuck. It waits for ${waiting}, and continues by itself.`;
}

async function show(task: TaskRecord | undefined, store: TaskStore, { out }: Io, isJson: boolean) {
  if (task === undefined) throw new CallError("task_gone", "The store has no such task.");
  const { now } = await store.figures();
  const shown = isJson ? plainJson({ parley: 1, task: taskJson(task, now) }) : taskLine(task, now);
  out(`${shown}\n`);
}

/** Opens a store. Throws if its tables are not up to date, because looking at a store must not change it. */
export async function withStore<T>(
  target: string,
  schema: string | undefined,
  act: (store: TaskStore) => Promise<T>,
): Promise<T> {
  const missing = await missingMigrations(target, schema);
  if (missing > 0) {
    const what = `The tables of the store are not up to date: ${counted(missing, "migration")} missing`;
    throw new Error(`${what}. ${howToMigrate(target, schema)}`);
  }
  const store = storeAt(target, schema);
  try {
    return await act(store);
  } finally {
    await store.close();
  }
}

/** Opens a store by its URL or file. Opening it can create its tables. */
export function storeAt(target: string, schema: string | undefined): TaskStore {
  return isPostgres(target)
    ? new PostgresStore(target, { schema })
    : new SqliteStore({ path: target });
}

/** The tasks of a store, newest first. */
async function listTasks(store: TaskStore, most: number): Promise<readonly TaskRecord[]> {
  const found: TaskRecord[] = [];
  for await (const task of everyTask(store)) {
    found.push(task);
    if (found.length >= most) break;
  }
  return found;
}

/** A task for programs, without anything sealed. */
function taskJson(task: TaskRecord, now: number): Readonly<Record<string, unknown>> {
  const { id, callId, tool, principal, status, worker, dueAt, epoch, fruitless } = task;
  return {
    id,
    callId,
    tool,
    owner: principal === "" ? null : principal,
    status,
    waitsFor: openWaits(task, now).map((wait) => ({
      kind: wait.kind,
      key: wait.key,
      ...(wait.group !== undefined && { group: wait.group }),
      ...(wait.needs !== undefined && { needs: wait.needs, agreed: agreedOn(wait) }),
      ...(wait.dueAt !== undefined && { until: new Date(wait.dueAt).toISOString() }),
    })),
    worker: worker ?? null,
    dueAt: dueAt === undefined ? null : new Date(dueAt).toISOString(),
    claims: epoch,
    fruitlessClaims: fruitless,
    stepsToUndo: isUndoing(task) ? task.undos : 0,
    isOrphaned: isOrphaned(task, now),
    logLength: task.logLength,
    logBytes: task.logBytes,
    ageMs: now - task.createdAt,
    createdAt: new Date(task.createdAt).toISOString(),
    updatedAt: new Date(task.updatedAt).toISOString(),
    expiresAt: new Date(task.expiresAt).toISOString(),
  };
}

const waitName = ({ kind, key }: Wait): string =>
  kind === "timer" ? "a timer" : plainLine(key, 30);

const header = ["TASK", "TOOL", "STATUS", "AGE", "OWNER", "STATE"];

const taskLine = (task: TaskRecord, now: number): string =>
  taskFacts(task, now).join("  ").trimEnd();

function taskFacts(task: TaskRecord, now: number): readonly string[] {
  const { id, tool, principal, status } = task;
  return [
    plainLine(id, 40),
    plainLine(tool, 30),
    status,
    duration(Math.max(0, now - task.createdAt)),
    principal === "" ? "no owner" : plainLine(principal, 30),
    stateOf(task, now),
  ];
}
