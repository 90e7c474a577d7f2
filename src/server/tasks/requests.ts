// `tasks/get`, `tasks/update` and `tasks/cancel`, on every transport.

import type { ClientCapabilities } from "@modelcontextprotocol/server";
import { answerMap, elicitAnswer, rootsAnswer, sampleAnswer } from "../../protocol/answers.ts";
import {
  internalError,
  invalidParams,
  missingClientCapability,
} from "../../protocol/error-codes.ts";
import { tasksExtension } from "../../protocol/task.ts";
import type { DetailedTask } from "../../protocol/task.ts";
import { ParleyError } from "../../errors.ts";
import type { Json } from "../../util/json.ts";
import { MovedRecordError } from "../../tasks/ownership.ts";
import type { TaskSnapshot } from "../../tasks/snapshot.ts";
import { TokenError } from "../../token/errors.ts";
import { canFollowTasks, capabilitiesFor } from "../../protocol/capabilities.ts";
import type { Core } from "../core.ts";
import { isObject } from "../../util/objects.ts";
import { checkKeys } from "../round/failure.ts";
import { shortId } from "../../util/short-id.ts";
import { storeTrouble } from "./store-needed.ts";
import { detailedTask } from "./wire.ts";

/** One request about a task. */
export interface TaskRequest {
  readonly method: "tasks/get" | "tasks/update" | "tasks/cancel";
  readonly taskId: unknown;
  readonly inputResponses?: unknown;
  /** What this request declares. */
  readonly capabilities: ClientCapabilities;
  readonly principal: string | undefined;
}

/** What the client gets: the result's members, or a JSON-RPC error. */
export type TaskResponse =
  | { readonly kind: "result"; readonly result: object }
  | {
      readonly kind: "error";
      readonly code: number;
      readonly message: string;
      readonly data?: Readonly<Record<string, unknown>>;
    };

/** Serves one request about a task. Never rejects. */
export async function serveTask(core: Core, request: TaskRequest): Promise<TaskResponse> {
  // This comes first, so that a client without the extension learns nothing about tasks.
  if (!canFollowTasks(request.capabilities)) return notDeclared;
  try {
    return await respond(core, request);
  } catch (error) {
    if (error instanceof ParleyError) return refused(error);
    return unreachable(core, request.method, error, request.taskId);
  }
}

async function respond(core: Core, request: TaskRequest): Promise<TaskResponse> {
  const { method, taskId, principal, inputResponses } = request;
  const wires = method === "tasks/update" && isObject(inputResponses) ? inputResponses : {};
  const task = await ownTask(core, taskId, principal, Object.keys(wires));
  if (task === undefined) return unknownTask;
  if (task.isRemoved) return removedTask;
  switch (method) {
    case "tasks/get":
      return result(detailedTask(task));
    case "tasks/update":
      return update(core, task, inputResponses);
    case "tasks/cancel":
      await core.tasks?.cancel(task.id);
      return result({});
  }
}

/**
 * The caller's task. Undefined for a task of another caller and for one that does not exist, because an id does not
 * authorize. With wire keys it is for an answer to these questions, and may be as a follower has seen it last.
 */
export async function ownTask(
  core: Core,
  id: unknown,
  principal: string | undefined,
  answers: readonly string[] = [],
): Promise<TaskSnapshot | undefined> {
  if (!isTaskId(id)) return undefined;
  const read = answers.length === 0 ? core.tasks?.get(id) : core.tasks?.toAnswer(id, answers);
  const task = await read?.catch((error: unknown) => unopened(core, error, id));
  return task !== undefined && task.principal === principal ? task : undefined;
}

/** The task belongs to another server on the same store, or its key is gone. The client gets the same response as for an unknown task. */
export function unopened({ logger }: Core, error: unknown, id?: string): undefined {
  // The runtime has logged it.
  if (error instanceof MovedRecordError) return undefined;
  if (!(error instanceof TokenError)) throw error;
  const { reason } = error;
  const hint = reason === "unknown_key" ? ` ${checkKeys}` : "";
  logger.warn(`A task could not be opened.${hint}`, {
    ...(id === undefined ? {} : { task: shortId(id) }),
    reason,
  });
}

/** Whether this can be the id of a task at all. */
export const isTaskId = (id: unknown): id is string =>
  typeof id === "string" && id.length <= longestId;

const longestId = 200;

async function update(core: Core, task: TaskSnapshot, sent: unknown): Promise<TaskResponse> {
  if (!isObject(sent)) return malformed("expected an object whose members are results");
  // Only open questions count. A client may also send answers that have arrived already, or under unknown keys.
  const outstanding = Object.entries(sent).filter(([key]) => task.questions.has(key));
  const answers = answerMap(Object.fromEntries(outstanding));
  if (answers === undefined) return malformed("each answer must be an object, and not too large");
  for (const [key, answer] of answers) {
    if (!isAnswerTo(task.questions.get(key), answer)) {
      return malformed(`the answer to "${key}" is not of the kind that was asked for`);
    }
  }
  await core.tasks?.answer(task, asJson(withoutPromises(task, answers)));
  return result({});
}

const isPromise = (answer: object): boolean => elicitAnswer(answer)?.action === "accept";

/** Leaves out that a user will open a page, which is not yet the answer. The page brings that. */
function withoutPromises(
  { paged }: TaskSnapshot,
  answers: ReadonlyMap<string, object>,
): ReadonlyMap<string, object> {
  if (paged.size === 0) return answers;
  return new Map([...answers].filter(([wire, answer]) => !paged.has(wire) || !isPromise(answer)));
}

/** Answers a task's questions by wire key, for a caller that has not read the task. */
export async function applyAnswers(
  core: Core,
  taskId: string,
  answers: ReadonlyMap<string, object>,
): Promise<void> {
  const task = await core.tasks?.toAnswer(taskId, answers.keys());
  if (task !== undefined) await core.tasks?.answer(task, asJson(withoutPromises(task, answers)));
}

function asJson(answers: ReadonlyMap<string, object>): ReadonlyMap<string, Json> {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- answers come from a request's JSON
  return answers as unknown as ReadonlyMap<string, Json>;
}

/** Whether the answer is of the right kind. The handler's schema checks the contents, and the question is asked again if they do not fit. */
function isAnswerTo(question: unknown, answer: object): boolean {
  const method = isObject(question) ? question["method"] : undefined;
  if (method === "elicitation/create") return isElicitResult(answer);
  if (method === "sampling/createMessage") return sampleAnswer(answer) !== undefined;
  return rootsAnswer(answer) !== undefined;
}

function isElicitResult(answer: object): boolean {
  const given = elicitAnswer(answer);
  if (given?.action !== "accept" || given.content === undefined) return given !== undefined;
  return isObject(given.content) && Object.values(given.content).every(isField);
}

/** Whether a form's field may hold this. Some clients send null for an empty field; the form reports it as missing. */
function isField(value: unknown): boolean {
  if (Array.isArray(value)) return value.every((one) => typeof one === "string");
  return typeof value !== "object" || value === null;
}

// ---------------------------------------------------------------- responses

const result = (members: object | DetailedTask): TaskResponse => ({
  kind: "result",
  result: { resultType: "complete", ...members },
});

/** The response at a limit of the caller. The message says what to do. */
const refused = ({ code: reason, message }: ParleyError): TaskResponse => ({
  kind: "error",
  code: internalError,
  message,
  data: { reason },
});

type TaskErrorResponse = Extract<TaskResponse, { kind: "error" }>;

/** The response when the store fails. The store's own message goes to the log only. */
export function unreachable(
  core: Core,
  method: string,
  error: unknown,
  id?: unknown,
): TaskErrorResponse {
  core.storeFailed(error, { method, ...(isTaskId(id) ? { task: shortId(id) } : {}) });
  return {
    kind: "error",
    code: internalError,
    message: storeTrouble(error).message,
    data: { reason: "store_unavailable" },
  };
}

const malformed = (why: string): TaskResponse => ({
  kind: "error",
  code: invalidParams,
  message: `Malformed inputResponses: ${why}. Nothing was applied.`,
});

/** The response for a task that does not exist, or is not the caller's. */
export const unknownTask: TaskResponse = {
  kind: "error",
  code: invalidParams,
  message: "No such task",
  data: { reason: "unknown_task" },
};

/** The response for a task whose contents are deleted. */
export const removedTask: TaskResponse = {
  kind: "error",
  code: invalidParams,
  message: "The task has expired, and its result is deleted.",
  data: { reason: "task_expired" },
};

/** The response to a client that does not declare the extension. */
export const notDeclared: TaskErrorResponse = {
  kind: "error",
  code: missingClientCapability,
  message: `Requests about tasks must declare the tasks extension (${tasksExtension}).`,
  data: { requiredCapabilities: capabilitiesFor("task") },
};
