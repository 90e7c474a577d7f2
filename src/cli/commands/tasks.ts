// `parley tasks`: shows and controls tasks, through their server or in their store.

import { didYouMean, parseOptions, splitAtDashes } from "../args/command-line.ts";
import { withSession } from "../call/finish.ts";
import { callOptions, folderIn } from "../call/session.ts";
import { exit, UsageError } from "../command.ts";
import type { Command } from "../command.ts";
import { findCall, forgetTask, unfinished } from "../journal/calls.ts";
import { listTaskCalls } from "../journal/call-list.ts";
import { OwnMark } from "../journal/own-mark.ts";
import { targetIn, withoutToken } from "../journal/trust.ts";
import { accessHelp } from "../server/access.ts";
import { parseTarget } from "../server/target.ts";
import type { Target } from "../server/target.ts";
import { answerTask, cancelTask, getTask, watchTask } from "../tasks/server-tasks.ts";
import { tasksInStore } from "../tasks/store-tasks.ts";

const options = {
  ...callOptions,
  store: { type: "string" },
  schema: { type: "string" },
  limit: { type: "string" },
  name: { type: "string" },
  principal: { type: "string" },
  "keys-file": { type: "string" },
  orphaned: { type: "boolean" },
  yes: { type: "boolean" },
  trust: { type: "boolean" },
} as const;

const verbs = ["ls", "get", "watch", "answer", "cancel", "requeue"] as const;

/** `parley tasks` */
export const tasks: Command = {
  help: `Shows tasks, and watches, answers, cancels or requeues them.

Usage
  parley tasks ls                               tasks started from this folder
  parley tasks get|watch|cancel <target> <task>
  parley tasks answer <target> <task> --answer key=value …
  parley tasks ls --store <store>               all tasks of a store
  parley tasks get|cancel|requeue <task> --store <store>
      (of the id of the task, the first 6 characters are enough)
  parley tasks cancel|requeue --orphaned --store <store> [--yes]

A task is a call that continues without its client. The protocol has no request
that lists tasks, so ls shows the tasks that were started from this folder. To
see all tasks, look into the store. For a call in the journal, you can pass its
id instead of <target> <task>.

requeue runs a task again if it was given up after too many attempts without
progress, or if it should run and does not: the lease of its worker is over, or
it waits for its next attempt. What is recorded is not done again. A task that
has completed, was cancelled, or failed with an error of its own is refused.

An orphaned task has been due for more than 30 s, and no worker has taken it up:
no worker runs, or none has its tool. --orphaned counts these tasks and changes
nothing. Add --yes to cancel or requeue them.

cancel --store records the cancellation in the audit, if it has the keys of the
server: PARLEY_KEYS, --keys-file, or .parley/keys of the development server. A
cancellation without the keys leaves no record, and parley audit --check then
names its call.

Options
  --answer key=value       one answer, as JSON or text; can be repeated
  --answers FILE           a JSON object of answers
  --store STORE            postgres://… or a SQLite file
  --schema NAME            Postgres: the schema of its tables (default: parley)
  --limit N                ls --store: the most tasks to list (default: 100)
  --keys-file FILE         with --store: a file with the keys
  --principal TEXT         cancel --store: who cancels (default: your user name)
  --name NAME              cancel --store: the name of the server, as in
                           parley({ name }) (default: from the audit)
  --orphaned               cancel, requeue: all orphaned tasks of the store
  --yes                    with --orphaned: do it, instead of counting them
  --journal DIR            where unfinished calls are kept (default:
                           .parley/calls)
  --trust                  trust the server of a call that you did not start

Connection
${accessHelp}
Examples
  parley tasks watch http://127.0.0.1:3000/mcp 8f1c0f64a2c94c1d9a3b7be04c55d7e2
  parley tasks answer 3f2a9c1b --answer size=Large
  parley tasks ls --store "$DATABASE_URL"
  parley tasks requeue 8f1c0f64a2c94c1d9a3b7be04c55d7e2 --store "$DATABASE_URL"
  parley tasks cancel --orphaned --store "$DATABASE_URL" --yes

JSON (--json)
  {"parley": 1, "tasks": […]} or {"parley": 1, "task": {…}}
  A task of a store: {"id", "callId", "tool", "owner", "status", "waitsFor",
  "worker", "dueAt", "claims", "fruitlessClaims", "isOrphaned", "ageMs",
  "createdAt", "updatedAt", "expiresAt", …}
  --orphaned: {"parley": 1, "orphaned": 3, "byTool": {…}, "cancelled": 0,
  "tasks": […]}; with --yes "cancelled" or "requeued" counts what was done

Exit codes
  0 done, 1 failed, not cancelled or not requeued, 2 usage error or an answer
  that does not fit, 6 an answer is needed, 7 timed out, 130 interrupted
`,
  run: async (args, io) => {
    const { own, command } = splitAtDashes(args);
    const { values, positionals } = parseOptions("tasks", idsLast(own), options);
    const [word = "", ...rest] = positionals;
    const verb = verbs.find((one) => one === word);
    if (verb === undefined) {
      const known = `tasks: pass one of ${verbs.join(", ")}`;
      throw new UsageError(
        word === "" ? `${known}.` : `tasks: unknown command "${word}"${didYouMean(word, verbs)}`,
      );
    }
    const { store, json: isJson = false } = values;
    const mark = new OwnMark(io.env);
    const forget = (taskId: string) => forgetTask(folderIn(values), taskId, mark);
    if (store !== undefined) {
      return tasksInStore(verb, rest[0], { ...values, store }, io, forget);
    }
    const ofCancel = (["name", "principal", "keys-file"] as const).find((one) => values[one]);
    if (ofCancel !== undefined) {
      throw new UsageError(
        `tasks ${verb}: --${ofCancel} is for ${ofCancel === "keys-file" ? "" : "tasks cancel "}--store.`,
      );
    }
    if (verb === "requeue" || values.orphaned === true) {
      throw new UsageError(
        `tasks ${verb}${verb === "requeue" ? "" : " --orphaned"} needs --store, because the protocol has no such request.`,
      );
    }
    if (verb === "ls") return listTaskCalls(await unfinished(folderIn(values), mark), io, isJson);
    const { target, taskId, isTrusted } = await named(rest, command, {
      verb,
      folder: folderIn(values),
      own: mark,
      isTrusted: values.trust === true,
    });
    const within = isTrusted ? io : withoutToken(io);
    // The task belongs to another call, so the journal does not keep it.
    const code = await withSession(target, { ...values, "no-journal": true }, within, (session) => {
      switch (verb) {
        case "get":
          return getTask(session, taskId, io);
        case "watch":
          return watchTask(session, target, taskId, io);
        case "answer":
          return answerTask(session, taskId, io);
        case "cancel":
          return cancelTask(session, taskId, io);
      }
    });
    // A cancelled task is no longer unfinished.
    if (verb === "cancel" && code === exit.done) await forget(taskId);
    return code;
  },
};

/** Calls in the journal are shown with as much of their id. */
const longestShortId = 8;

/** The id of a task can begin with a dash. No option is as long as an id. */
const isDashedId = (word: string) => /^-[\w-]{15,}$/.test(word);

/** Puts such ids after `--`, where nothing is read as an option. */
function idsLast(words: readonly string[]): readonly string[] {
  return [...words.filter((word) => !isDashedId(word)), "--", ...words.filter(isDashedId)];
}

async function named(
  words: readonly string[],
  command: readonly string[],
  kept: {
    readonly verb: string;
    readonly folder: string;
    readonly own: OwnMark;
    readonly isTrusted: boolean;
  },
): Promise<{ readonly target: Target; readonly taskId: string; readonly isTrusted: boolean }> {
  const [first, second] = words;
  if (first !== undefined && second !== undefined) {
    return { target: parseTarget(first, []), taskId: second, isTrusted: true };
  }
  if (first === undefined) throw new UsageError("tasks: pass the server and the task.");
  if (command.length > 0) {
    return { target: parseTarget(undefined, command), taskId: first, isTrusted: true };
  }
  // The short id of a call that has ended leads nowhere. The id of a task is longer, unless it comes from another server.
  const id = first.length > longestShortId ? first : "<id of the task>";
  const advice = `If it is a task, pass its server first: parley tasks ${kept.verb} <target> ${id}`;
  const call = await findCall(kept.folder, first, kept.own, advice);
  const { taskId } = call.state;
  if (taskId === undefined) throw new UsageError(`The call ${first} is not a task.`);
  const isTrusted = call.isOwn || kept.isTrusted;
  return { target: targetIn(call, isTrusted), taskId, isTrusted };
}
