// `parley tasks`: long calls, as their caller sees them on a server, or as an operator sees them in a store.

import { answerTo } from "../../client/form-answer.ts";
import type { Members } from "../../client/json.ts";
import { CallError } from "../../client/index.ts";
import { defaultTaskLimits } from "../../tasks/limits.ts";
import { duration } from "../amounts.ts";
import { shortId } from "../call-reference.ts";
import { findCall, unfinished } from "../calls.ts";
import { halves } from "../command-line.ts";
import { exit, Usage } from "../command.ts";
import type { Command, ExitCode, Io } from "../command.ts";
import { finish, withSession } from "../finish.ts";
import { questionText, resultText, tellFailure } from "../outcome.ts";
import { parsed } from "../parsed.ts";
import { nameOf, placeFrom } from "../place.ts";
import type { Place } from "../place.ts";
import { plain, plainJson, plainLine } from "../plain.ts";
import { nearest } from "../nearest.ts";
import { accessHelp, callOptions, folderIn } from "../session.ts";
import type { Session } from "../session.ts";
import { questionsOf, referenceToTask, taskRequest } from "../tasks-by-server.ts";
import { listTasks, taskJson, taskLine, withStore } from "../tasks-in-store.ts";

const options = {
  ...callOptions,
  store: { type: "string" },
  schema: { type: "string" },
  limit: { type: "string" },
} as const;

const verbs = ["ls", "get", "watch", "answer", "cancel"] as const;
type Verb = (typeof verbs)[number];

export const tasks: Command = {
  help: `parley tasks ls
parley tasks get|watch|cancel <target> <task>
parley tasks answer <target> <task> --answer key=json …
parley tasks ls|get|cancel [<task>] --store <postgres://… | file.db>

A task is a call that goes on without its client. A server does not list them
(the protocol has no such request), so ls shows those that were started from
this folder; an operator sees all of them in the store. For one in the journal,
the id of its call will do in place of target and task.

  parley tasks watch http://127.0.0.1:3000/mcp iqGwqHw0OjozkQlDPUBhzA
  parley tasks answer 3f2a9c1b --answer size=Large
  parley tasks ls --store "$DATABASE_URL"
  parley tasks get iqGwqHw0OjozkQlDPUBhzA --store .parley/parley.db --json

  --answer key=json        may be repeated; --answers FILE takes a JSON object
  --store STORE            looks into the store
  --schema NAME            where its tables are (Postgres; default: parley)
  --limit N                of ls in a store (default: 100)
  --journal DIR            where unfinished calls are kept (.parley/calls)
${accessHelp}
--json prints {"parley": 1, "tasks": […]} or {"parley": 1, "task": {…}}; of a
store: {"id", "callId", "tool", "owner", "status", "waitsFor", "worker",
"claims", "fruitlessClaims", "ageMs", "createdAt", "updatedAt", "expiresAt", …}
`,
  run: async (args, io) => {
    const { own, command } = halves(args);
    const { values, positionals } = parsed("tasks", own, options);
    const [word = "", ...rest] = positionals;
    const verb = verbs.find((one) => one === word);
    if (verb === undefined) {
      const known = `tasks: say what: ${verbs.join(", ")}`;
      throw new Usage(
        word === "" ? `${known}.` : `tasks: there is no "${word}"${nearest(word, verbs)}`,
      );
    }
    const isJson = values.json ?? false;
    if (values.store !== undefined) return inStore(verb, rest[0], values, values.store, io, isJson);
    if (verb === "ls") return listed(folderIn(values), io, isJson);
    const { place, taskId } = await named(rest, command, folderIn(values));
    // What is done to a task from here is no call of ours to keep.
    return withSession(place, { ...values, "no-journal": true }, io, (session) => {
      switch (verb) {
        case "get":
          return get(session, taskId, io);
        case "watch":
          return watch(session, place, taskId, io);
        case "answer":
          return answer(session, taskId, io);
        case "cancel":
          return cancel(session, taskId, io);
      }
    });
  },
};

async function named(
  words: readonly string[],
  command: readonly string[],
  folder: string,
): Promise<{ readonly place: Place; readonly taskId: string }> {
  const [first, second] = words;
  if (first !== undefined && second !== undefined) {
    return { place: placeFrom(first, []), taskId: second };
  }
  if (first === undefined) throw new Usage("tasks: name the server and the task.");
  if (command.length > 0) return { place: placeFrom(undefined, command), taskId: first };
  if (!/^[\da-f-]{3,36}$/.test(first)) throw new Usage("tasks: name the server and the task.");
  const { place, state } = await findCall(folder, first);
  if (state.taskId === undefined) throw new Usage(`The call ${first} has not become a task.`);
  if (place === undefined) throw new Usage("Its reference does not say where its server is.");
  return { place, taskId: state.taskId };
}

async function listed(folder: string, { out }: Io, isJson: boolean): Promise<ExitCode> {
  const found = (await unfinished(folder)).filter(({ state }) => state.taskId !== undefined);
  if (isJson) {
    const entries = found.map(({ state, place }) => ({
      id: shortId(state),
      taskId: state.taskId,
      tool: state.name,
      server: place === undefined ? state.target : nameOf(place),
      since: new Date(state.since).toISOString(),
    }));
    out(`${plainJson({ parley: 1, tasks: entries })}\n`);
    return exit.done;
  }
  if (found.length === 0) out("No task was left here. --store shows those of a store.\n");
  for (const { state, place } of found) {
    const where = plainLine(place === undefined ? state.target : nameOf(place), 60);
    const age = duration(Date.now() - state.since);
    out(
      `${shortId(state)}  ${plainLine(state.taskId ?? "", 40)}  ${plainLine(state.name, 30)}  ${age}  ${where}\n`,
    );
  }
  return exit.done;
}

// ---------------------------------------------------------------- by server

async function get(
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

function watch(session: Session, place: Place, taskId: string, io: Io): Promise<ExitCode> {
  const { connection, timeoutMs } = session;
  const call = connection.resume(referenceToTask(connection, place, taskId), { timeoutMs });
  return finish(call, session, { tool: `task ${taskId}`, args: {}, taskId }, io);
}

async function answer(session: Session, taskId: string, { out }: Io): Promise<ExitCode> {
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

async function cancel(
  { connection, isJson }: Session,
  taskId: string,
  { out }: Io,
): Promise<ExitCode> {
  await taskRequest(connection, "tasks/cancel", { taskId });
  const { status } = await taskRequest(connection, "tasks/get", { taskId });
  out(isJson ? `${plainJson({ parley: 1, taskId, status })}\n` : `The task is ${said(status)}.\n`);
  return status === "cancelled" ? exit.done : exit.failed;
}

// ---------------------------------------------------------------- by store

async function inStore(
  verb: Verb,
  taskId: string | undefined,
  { schema, limit }: { readonly schema?: string | undefined; readonly limit?: string | undefined },
  target: string,
  io: Io,
  isJson: boolean,
): Promise<ExitCode> {
  if (verb === "watch" || verb === "answer") {
    throw new Usage(`tasks ${verb}: what people say is sealed in a store; do it by the server.`);
  }
  const most = Number(limit ?? 100);
  if (!Number.isInteger(most) || most < 1) throw new Usage("--limit takes a whole number.");
  try {
    return await withStore(target, schema, async (store) => {
      const { now } = await store.figures();
      if (verb === "ls") {
        const found = await listTasks(store, most);
        if (isJson)
          io.out(`${plainJson({ parley: 1, tasks: found.map((task) => taskJson(task, now)) })}\n`);
        else if (found.length === 0) io.out("There are no tasks.\n");
        else for (const task of found) io.out(`${taskLine(task, now)}\n`);
        return exit.done;
      }
      if (taskId === undefined) throw new Usage(`tasks ${verb}: which task?`);
      const task =
        verb === "cancel"
          ? await store.cancel(taskId, defaultTaskLimits.keepMs)
          : await store.read(taskId);
      if (task === undefined)
        throw new CallError("task_gone", "There is no such task in the store.");
      io.out(
        isJson
          ? `${plainJson({ parley: 1, task: taskJson(task, now) })}\n`
          : `${taskLine(task, now)}\n`,
      );
      return verb === "cancel" && task.status !== "cancelled" ? exit.failed : exit.done;
    });
  } catch (error) {
    if (error instanceof Usage) throw error;
    return tellFailure(error, io, isJson);
  }
}
