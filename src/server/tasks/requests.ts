// `tasks/get`, `tasks/update`, `tasks/cancel`, for whatever transport brought them.

import type { ClientCapabilities } from "@modelcontextprotocol/server";
import { answerMap, elicitAnswer, rootsAnswer, sampleAnswer } from "../../protocol/answers.ts";
import {
  internalError,
  invalidParams,
  missingClientCapability,
} from "../../protocol/error-codes.ts";
import type { DetailedTask } from "../../protocol/task.ts";
import type { Json } from "../../util/json.ts";
import type { TaskSnapshot } from "../../tasks/snapshot.ts";
import { TokenError } from "../../token/errors.ts";
import { canFollowTasks, capabilitiesFor } from "../../protocol/capabilities.ts";
import type { Core } from "../core.ts";
import { textOf } from "../round/failure.ts";
import { storeTrouble } from "./store-needed.ts";
import { detailedTask } from "./wire.ts";

export interface TaskRequest {
  readonly method: "tasks/get" | "tasks/update" | "tasks/cancel";
  readonly taskId: unknown;
  readonly inputResponses?: unknown;
  /** Of this very request. */
  readonly capabilities: ClientCapabilities;
  readonly principal: string | undefined;
}

export type TaskResponse =
  | { readonly kind: "result"; readonly result: object }
  | {
      readonly kind: "error";
      readonly code: number;
      readonly message: string;
      readonly data?: Readonly<Record<string, unknown>>;
    };

export async function serveTask(core: Core, request: TaskRequest): Promise<TaskResponse> {
  // Before anything is looked up: who cannot follow tasks learns nothing of them.
  if (!canFollowTasks(request.capabilities)) return notDeclared;
  try {
    return await answerTo(core, request);
  } catch (error) {
    return unreachable(core, request.method, error);
  }
}

async function answerTo(core: Core, request: TaskRequest): Promise<TaskResponse> {
  const task = await ownTask(core, request.taskId, request.principal);
  if (task === undefined) return unknownTask;
  if (task.isRemoved) return removedTask;
  switch (request.method) {
    case "tasks/get":
      return result(detailedTask(task));
    case "tasks/update":
      return update(core, task, request.inputResponses);
    case "tasks/cancel":
      await core.tasks?.cancel(task.id);
      return result({});
  }
}

/** Undefined for a foreign one as for one that never was: an id is no authorisation. */
export async function ownTask(
  core: Core,
  id: unknown,
  principal: string | undefined,
): Promise<TaskSnapshot | undefined> {
  if (typeof id !== "string" || id.length > longestId) return undefined;
  const task = await core.tasks?.get(id).catch((error: unknown) => unopened(core, error));
  return task !== undefined && task.principal === principal ? task : undefined;
}

/** Of another server on the same store, or sealed with a key that is gone: whoever asks is told what of an unknown one. */
function unopened({ logger }: Core, error: unknown): undefined {
  if (!(error instanceof TokenError)) throw error;
  const { reason } = error;
  const hint = reason === "unknown_key" ? ": is PARLEY_KEYS the same on every instance?" : "";
  logger.warn(`A task could not be opened${hint}`, { reason });
}

const longestId = 200;

async function update(core: Core, task: TaskSnapshot, sent: unknown): Promise<TaskResponse> {
  if (!isMap(sent)) return malformed("expected an object whose members are results");
  // Only what is asked now is looked at: a client may well send what is answered already, or nobody's at all.
  const outstanding = Object.entries(sent).filter(([key]) => task.questions.has(key));
  const answers = answerMap(Object.fromEntries(outstanding));
  if (answers === undefined) return malformed("an answer is an object of a decent size");
  for (const [key, answer] of answers) {
    if (!isAnswerTo(task.questions.get(key), answer)) {
      return malformed(`what came for "${key}" is no answer to what was asked`);
    }
  }
  await applyAnswers(core, task.id, answers);
  return result({});
}

export async function applyAnswers(
  core: Core,
  taskId: string,
  answers: ReadonlyMap<string, object>,
): Promise<void> {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- they came as JSON
  await core.tasks?.update(taskId, answers as unknown as ReadonlyMap<string, Json>);
}

/** Of the right kind. Whether it fits the form is for the handler's schema to say; then it is asked again. */
function isAnswerTo(question: unknown, answer: object): boolean {
  const method = isMap(question) && "method" in question ? question.method : undefined;
  if (method === "elicitation/create") return isElicitResult(answer);
  if (method === "sampling/createMessage") return sampleAnswer(answer) !== undefined;
  return rootsAnswer(answer) !== undefined;
}

function isElicitResult(answer: object): boolean {
  const given = elicitAnswer(answer);
  if (given?.action !== "accept" || given.content === undefined) return given !== undefined;
  return isMap(given.content) && Object.values(given.content).every(isField);
}

/** What a form's field may hold. Null is an empty one, to some clients: that it is missing, the form says. */
function isField(value: unknown): boolean {
  if (Array.isArray(value)) return value.every((one) => typeof one === "string");
  return typeof value !== "object" || value === null;
}

const isMap = (value: unknown): value is object =>
  typeof value === "object" && value !== null && !Array.isArray(value);

// ---------------------------------------------------------------- answers

const result = (members: object | DetailedTask): TaskResponse => ({
  kind: "result",
  result: { resultType: "complete", ...members },
});

type Refused = Extract<TaskResponse, { kind: "error" }>;

/** What a store says when it fails is for the log. */
export function unreachable({ logger }: Core, method: string, error: unknown): Refused {
  logger.error(`The task store fails: ${textOf(error)}`, { method });
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
  message: `Malformed inputResponses: ${why}. Nothing was applied`,
});

const unknownTask: TaskResponse = {
  kind: "error",
  code: invalidParams,
  message: "No such task",
  data: { reason: "unknown_task" },
};

const removedTask: TaskResponse = {
  kind: "error",
  code: invalidParams,
  message: "The task's time is over, and its result is deleted",
  data: { reason: "task_expired" },
};

export const notDeclared: Refused = {
  kind: "error",
  code: missingClientCapability,
  message: "This needs a client that declares the tasks extension in the request",
  data: { requiredCapabilities: capabilitiesFor("task") },
};
