// What can be done to a task by its server: looked at, watched to its end, answered, cancelled.

import { answerTo } from "../../client/check-answer.ts";
import { CallError } from "../../client/index.ts";
import type { Members } from "../../util/objects.ts";
import { finish } from "../call/finish.ts";
import { questionText, resultText } from "../call/outcome.ts";
import type { Session } from "../call/session.ts";
import { exit, Usage } from "../command.ts";
import type { ExitCode, Io } from "../command.ts";
import { plain, plainJson, plainLine } from "../screen/plain.ts";
import type { Place } from "../server/place.ts";
import { questionsOf, referenceToTask, taskRequest } from "./requests.ts";

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

export function watchTask(
  session: Session,
  place: Place,
  taskId: string,
  io: Io,
): Promise<ExitCode> {
  const { connection, timeoutMs } = session;
  const call = connection.resume(referenceToTask(connection, place, taskId), { timeoutMs });
  return finish(call, session, { tool: `task ${taskId}`, args: {}, taskId }, io);
}

export async function answerTask(session: Session, taskId: string, { out }: Io): Promise<ExitCode> {
  const { connection, isJson } = session;
  const { given } = session.driver;
  if (given.isEmpty) throw new Usage("tasks answer: give an answer with --answer key=json.");
  const open = questionsOf(await taskRequest(connection, "tasks/get", { taskId }));
  const answers = open.flatMap((question) => {
    const one = given.for(question);
    return one === undefined ? [] : [[question.key, answerTo(question, one)] as const];
  });
  const keys = answers.map(([key]) => key);
  if (given.unused.length > 0) {
    const asked = open.map(({ key }) => plainLine(key)).join(", ");
    const what = asked === "" ? "The task asks nothing now" : `The task asks ${asked}`;
    throw new CallError("bad_answer", `${what}, and not ${given.unused.join(", ")}.`);
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
