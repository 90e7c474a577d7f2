// What an operator can do to tasks without their server: see them all, look at one, cancel it.

import { CallError } from "../../client/index.ts";
import { defaultTaskLimits } from "../../tasks/limits.ts";
import type { TaskStore } from "../../tasks/store.ts";
import type { TaskRecord } from "../../tasks/task.ts";
import { tellFailure } from "../call/outcome.ts";
import { exit, Usage } from "../command.ts";
import type { ExitCode, Io } from "../command.ts";
import { plainJson } from "../screen/plain.ts";
import { listTasks, taskJson, taskLine, withStore } from "./in-store.ts";

interface StoreValues {
  readonly store: string;
  readonly schema?: string | undefined;
  readonly limit?: string | undefined;
  readonly json?: boolean | undefined;
}

export async function tasksInStore(
  verb: string,
  taskId: string | undefined,
  { store: target, schema, limit = "100", json: isJson = false }: StoreValues,
  io: Io,
): Promise<ExitCode> {
  if (verb === "watch" || verb === "answer") {
    throw new Usage(`tasks ${verb}: what people say is sealed in a store; do it by the server.`);
  }
  const most = Number(limit);
  if (!Number.isInteger(most) || most < 1) throw new Usage("--limit takes a whole number.");
  if (verb !== "ls" && taskId === undefined) throw new Usage(`tasks ${verb}: which task?`);
  try {
    return await withStore(target, schema, (store) => {
      if (taskId === undefined || verb === "ls") return list(store, most, io, isJson);
      return verb === "cancel" ? cancel(store, taskId, io, isJson) : get(store, taskId, io, isJson);
    });
  } catch (error) {
    if (error instanceof Usage) throw error;
    return tellFailure(error, io, isJson);
  }
}

async function list(store: TaskStore, most: number, { out }: Io, isJson: boolean) {
  const { now } = await store.figures();
  const found = await listTasks(store, most);
  if (isJson) out(`${plainJson({ parley: 1, tasks: found.map((task) => taskJson(task, now)) })}\n`);
  else if (found.length === 0) out("There are no tasks.\n");
  else for (const task of found) out(`${taskLine(task, now)}\n`);
  return exit.done;
}

async function get(store: TaskStore, taskId: string, io: Io, isJson: boolean) {
  await show(await store.read(taskId), store, io, isJson);
  return exit.done;
}

async function cancel(store: TaskStore, taskId: string, io: Io, isJson: boolean) {
  const task = await store.cancel(taskId, defaultTaskLimits.keepMs);
  await show(task, store, io, isJson);
  return task?.status === "cancelled" ? exit.done : exit.failed;
}

async function show(task: TaskRecord | undefined, store: TaskStore, { out }: Io, isJson: boolean) {
  if (task === undefined) throw new CallError("task_gone", "There is no such task in the store.");
  const { now } = await store.figures();
  const shown = isJson ? plainJson({ parley: 1, task: taskJson(task, now) }) : taskLine(task, now);
  out(`${shown}\n`);
}
