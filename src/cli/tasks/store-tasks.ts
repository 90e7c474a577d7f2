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
import type { KeysHere } from "./task-state.ts";
import { taskIdOf } from "./find-task.ts";
import { whyItStaysDue } from "./who-runs.ts";
import { givenKeys, keyringOf } from "../doctor/available-keys.ts";
import { howToMigrate, isPostgres, missingMigrations } from "./migrations.ts";

interface StoreValues extends CancelOptions {
  readonly store: string;
  readonly schema?: string | undefined;
  readonly limit?: string | undefined;
  readonly json?: boolean | undefined;
  readonly orphaned?: boolean | undefined;
  readonly yes?: boolean | undefined;
}

/** Runs `parley tasks <verb> --store`. A task that it cancels is forgotten here, because it is no longer unfinished. */
export async function tasksInStore(
  verb: string,
  taskId: string | undefined,
  values: StoreValues,
  io: Io,
  forget: (taskId: string) => Promise<void>,
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
  const ofCancel = (["name", "principal"] as const).find((one) => values[one]);
  if (ofCancel !== undefined && verb !== "cancel")
    throw new UsageError(`--${ofCancel} is for tasks cancel --store.`);
  if (isSure && !isForOrphans) throw new UsageError("--yes is for --orphaned.");
  if (verb !== "ls" && !isForOrphans && taskId === undefined)
    throw new UsageError(`tasks ${verb}: pass the id of a task.`);
  try {
    return await withStore(target, schema, async (store) => {
      const canceller = verb === "cancel" ? await Canceller.of(store, values, io.env) : undefined;
      if (isForOrphans) return actOnOrphans(store, canceller, io, { isSure, isJson });
      const shown = { store, keys: keysHere(values, io.env), io, isJson };
      if (taskId === undefined || verb === "ls") return list(shown, most);
      const id = await taskIdOf(store, taskId);
      if (verb === "requeue") return requeue(shown, id);
      if (canceller === undefined) return get(shown, id);
      const code = await cancel(shown, canceller, id);
      if (code === exit.done) await forget(id);
      return code;
    });
  } catch (error) {
    if (error instanceof UsageError) throw error;
    return tellFailure(error, io, isJson);
  }
}

/** Where tasks are looked for, and how they are shown. */
interface Shown {
  readonly store: TaskStore;
  readonly keys: KeysHere | undefined;
  readonly io: Io;
  readonly isJson: boolean;
}

/**
 * Only keys that the person has named. Those of a development server have nothing to do with this store, most likely. Tasks
 * are shown without keys, too, so keys that cannot be read are no reason to fail.
 */
function keysHere(values: StoreValues, env: Io["env"]): KeysHere | undefined {
  const keys = givenKeys({ "keys-file": values["keys-file"] }, env);
  if (keys === undefined) return undefined;
  try {
    const { opening } = keyringOf(keys);
    return { has: (id) => opening.has(id), from: keys.from };
  } catch {
    return undefined;
  }
}

async function list({ store, keys, io: { out }, isJson }: Shown, most: number) {
  const { now } = await store.figures();
  const found = await listTasks(store, most);
  if (isJson) out(`${plainJson({ parley: 1, tasks: found.map((task) => taskJson(task, now)) })}\n`);
  else if (found.length === 0) out("The store has no tasks.\n");
  else out(table([header, ...found.map((task) => taskFacts(task, now, keys))]));
  return exit.done;
}

async function get(shown: Shown, taskId: string) {
  await show(await shown.store.read(taskId), shown);
  return exit.done;
}

async function cancel(shown: Shown, canceller: Canceller, taskId: string) {
  const task = await canceller.cancel(taskId);
  await show(task, shown);
  for (const warning of canceller.warnings) shown.io.err(`${warning}\n`);
  return task?.status === "cancelled" ? exit.done : exit.failed;
}

async function requeue(shown: Shown, taskId: string) {
  const { store, io } = shown;
  const before = await store.read(taskId);
  const { now } = await store.figures();
  const done = await store.requeue(taskId, requeueable);
  if (done?.isRequeued === false) throw new CallError("refused", whyNotRequeued(done.task, now));
  await show(done?.task, shown);
  if (before !== undefined && isOrphaned(before, now)) {
    const why = await whyItStaysDue(store, [before.tool]);
    if (why !== undefined) io.err(`${why}\n`);
  }
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

async function show(task: TaskRecord | undefined, { store, keys, io, isJson }: Shown) {
  if (task === undefined) throw new CallError("task_gone", "The task was forgotten meanwhile.");
  const { now } = await store.figures();
  const line = isJson
    ? plainJson({ parley: 1, task: taskJson(task, now) })
    : taskFacts(task, now, keys).join("  ").trimEnd();
  io.out(`${line}\n`);
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

function taskFacts(task: TaskRecord, now: number, keys: KeysHere | undefined): readonly string[] {
  const { id, tool, principal, status } = task;
  return [
    plainLine(id, 40),
    plainLine(tool, 30),
    status,
    duration(Math.max(0, now - task.createdAt)),
    principal === "" ? "no owner" : plainLine(principal, 30),
    stateOf(task, now, keys),
  ];
}
