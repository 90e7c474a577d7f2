// Shows, watches, answers or cancels a task through its server, with the requests of the tasks extension.

import { answerTo } from "../../client/check-answer.ts";
import { CallError } from "../../client/index.ts";
import type { Members } from "../../util/objects.ts";
import { finish } from "../call/finish.ts";
import { questionText, resultText } from "../call/outcome.ts";
import type { Session } from "../call/session.ts";
import { exit, UsageError } from "../command.ts";
import type { ExitCode, Io } from "../command.ts";
import { plain, plainJson, plainLine } from "../screen/plain.ts";
import { nameOf, withoutSecrets } from "../server/target.ts";
import type { Target } from "../server/target.ts";
import type { StandardSchemaV1 } from "@modelcontextprotocol/client";
import type { Connection, OpenQuestion } from "../../client/index.ts";
import { isObject, own } from "../../util/objects.ts";
import { readQuestion } from "../../client/read-question.ts";
import { referenceTo } from "../../client/reference.ts";
import { legacyVersion } from "../../protocol/versions.ts";
import { invalidParams } from "../../protocol/error-codes.ts";

/** Prints a task. */
export async function getTask(
  { connection, isJson }: Session,
  taskId: string,
  { out }: Io,
): Promise<ExitCode> {
  const task = await taskRequest(connection, "tasks/get", { taskId });
  if (isJson) out(`${plainJson({ parley: 1, task })}\n`);
  else out(taskText(task));
  return exit.done;
}

function taskText(task: Members): string {
  const { taskId, status, statusMessage, createdAt, lastUpdatedAt, result, error } = task;
  const lines = [`${said(taskId)}  ${said(status)}  ${said(statusMessage)}`.trimEnd()];
  if (typeof createdAt === "string")
    lines.push(`created ${said(createdAt)}, changed ${said(lastUpdatedAt)}`);
  const questions = questionsOf(task).map(questionText);
  if (result !== undefined) lines.push(resultText(result));
  if (error !== undefined) lines.push(plain(plainJson(error)));
  return `${lines.join("\n")}\n${questions.join("")}`;
}

const said = (value: unknown) => (typeof value === "string" ? plainLine(value) : "");

/** Follows a task to its end, and asks what it asks. */
export function watchTask(
  session: Session,
  target: Target,
  taskId: string,
  io: Io,
): Promise<ExitCode> {
  const { connection, timeoutMs } = session;
  const call = connection.resume(referenceToTask(connection, target, taskId), { timeoutMs });
  const server = nameOf(withoutSecrets(target));
  const again = `tasks watch ${/\s/.test(server) ? `"${server}"` : server} ${taskId}`;
  return finish(call, session, { tool: `task ${taskId}`, args: {}, taskId, again }, io);
}

/** Answers the questions of a task with the answers given in advance. */
export async function answerTask(session: Session, taskId: string, { out }: Io): Promise<ExitCode> {
  const { connection, isJson } = session;
  const { given } = session.driver;
  if (given.isEmpty) throw new UsageError("tasks answer: pass an answer with --answer key=value.");
  const open = questionsOf(await taskRequest(connection, "tasks/get", { taskId }));
  const answers = open.flatMap((question) => {
    const one = given.for(question);
    return one === undefined ? [] : [[question.key, answerTo(question, one)] as const];
  });
  const keys = answers.map(([key]) => key);
  if (given.unused.length > 0) {
    const asked = open.map(({ key }) => plainLine(key)).join(", ");
    const what = asked === "" ? "The task has no open question" : `The task asks ${asked}`;
    throw new CallError("bad_answer", `${what}, so ${given.unused.join(", ")} cannot be answered.`);
  }
  await taskRequest(connection, "tasks/update", {
    taskId,
    inputResponses: Object.fromEntries(answers),
  });
  out(
    isJson
      ? `${plainJson({ parley: 1, taskId, answered: keys })}\n`
      : `Answered: ${keys.join(", ")}\n`,
  );
  return exit.done;
}

/** Cancels a task. */
export async function cancelTask(
  { connection, isJson }: Session,
  taskId: string,
  { out }: Io,
): Promise<ExitCode> {
  await taskRequest(connection, "tasks/cancel", { taskId });
  const { status } = await taskRequest(connection, "tasks/get", { taskId });
  out(isJson ? `${plainJson({ parley: 1, taskId, status })}\n` : `The task is ${said(status)}.\n`);
  return status === "cancelled" ? exit.done : exit.failed;
}

const anything: StandardSchemaV1<unknown, unknown> = {
  "~standard": { version: 1, vendor: "parley", validate: (value) => ({ value }) },
};

/** Sends a request of the tasks extension. */
async function taskRequest(
  { sdk, era }: Connection,
  method: "tasks/get" | "tasks/update" | "tasks/cancel",
  params: Members,
): Promise<Members> {
  if (era === legacyVersion && method === "tasks/update") {
    throw new CallError(
      "refused",
      "A 2025-11-25 server asks only in its session. Use parley tasks watch.",
    );
  }
  try {
    const result: unknown = await sdk.request({ method, params }, anything);
    return isObject(result) ? result : {};
  } catch (error) {
    if (own(error, "code") !== invalidParams) throw error;
    const message =
      "The server does not know this task. It may have expired, it belongs to someone else, or this is not its whole id.";
    throw new CallError("task_gone", message, { cause: error });
  }
}

function questionsOf(task: Members): readonly OpenQuestion[] {
  const requests = task["inputRequests"];
  if (!isObject(requests)) return [];
  return Object.entries(requests).map(([key, request]) => readQuestion(key, request));
}

/** A reference to a task that another client has started. */
function referenceToTask(connection: Connection, target: Target, taskId: string): string {
  const url = target.kind === "url" ? new URL(target.url) : undefined;
  return referenceTo({
    id: crypto.randomUUID(),
    target: url === undefined ? connection.server.name : `${url.origin}${url.pathname}`,
    since: Date.now(),
    method: "tools/call",
    name: `task ${taskId}`,
    rounds: 0,
    stateRounds: 0,
    questions: new Map(),
    answers: new Map(),
    taskId,
    isLegacy: connection.era === legacyVersion,
  });
}
