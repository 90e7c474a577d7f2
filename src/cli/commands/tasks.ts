// `parley tasks`: long calls, as their caller sees them on a server, or as an operator sees them in a store.

import { halves } from "../args/halves.ts";
import { nearest } from "../args/nearest.ts";
import { parsed } from "../args/parsed.ts";
import { withSession } from "../call/finish.ts";
import { callOptions, folderIn } from "../call/session.ts";
import { Usage } from "../command.ts";
import type { Command } from "../command.ts";
import { findCall, unfinished } from "../journal/calls.ts";
import { listTaskCalls } from "../journal/listing.ts";
import { accessHelp } from "../server/access.ts";
import { placeFrom } from "../server/place.ts";
import type { Place } from "../server/place.ts";
import { answerTask, cancelTask, getTask, watchTask } from "../tasks/by-server.ts";
import { tasksInStore } from "../tasks/by-store.ts";

const options = {
  ...callOptions,
  store: { type: "string" },
  schema: { type: "string" },
  limit: { type: "string" },
} as const;

const verbs = ["ls", "get", "watch", "answer", "cancel"] as const;

export const tasks: Command = {
  help: `parley tasks ls
parley tasks get|watch|cancel <target> <task>
parley tasks answer <target> <task> --answer key=json …
parley tasks ls|get|cancel [<task>] --store <postgres://… | file.db>

A task is a call that goes on without its client. A server does not list them
(the protocol has no such request), so ls shows those that were started from
this folder; an operator sees all of them in the store. For one in the journal,
the id of its call will do in place of target and task.

  parley tasks watch http://127.0.0.1:3000/mcp 8f1c0f64a2c94c1d9a3b7be04c55d7e2
  parley tasks answer 3f2a9c1b --answer size=Large
  parley tasks ls --store "$DATABASE_URL"
  parley tasks get 8f1c0f64a2c94c1d9a3b7be04c55d7e2 --store .parley/parley.db

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
    const { values, positionals } = parsed("tasks", idsLast(own), options);
    const [word = "", ...rest] = positionals;
    const verb = verbs.find((one) => one === word);
    if (verb === undefined) {
      const known = `tasks: say what: ${verbs.join(", ")}`;
      throw new Usage(
        word === "" ? `${known}.` : `tasks: there is no "${word}"${nearest(word, verbs)}`,
      );
    }
    const { store, json: isJson = false } = values;
    if (store !== undefined) return tasksInStore(verb, rest[0], { ...values, store }, io);
    if (verb === "ls") return listTaskCalls(await unfinished(folderIn(values)), io, isJson);
    const { place, taskId } = await named(rest, command, folderIn(values));
    // What is done to a task from here is no call of ours to keep.
    return withSession(place, { ...values, "no-journal": true }, io, (session) => {
      switch (verb) {
        case "get":
          return getTask(session, taskId, io);
        case "watch":
          return watchTask(session, place, taskId, io);
        case "answer":
          return answerTask(session, taskId, io);
        case "cancel":
          return cancelTask(session, taskId, io);
      }
    });
  },
};

/** A server may give its task an id that begins with a dash. No option of ours is as long as one. */
const isDashedId = (word: string) => /^-[\w-]{15,}$/.test(word);

/** Behind a `--`, where nothing is taken for an option. */
function idsLast(words: readonly string[]): readonly string[] {
  return [...words.filter((word) => !isDashedId(word)), "--", ...words.filter(isDashedId)];
}

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
  const { place, state } = await findCall(folder, first);
  if (state.taskId === undefined) throw new Usage(`The call ${first} has not become a task.`);
  if (place === undefined) throw new Usage("Its reference does not say where its server is.");
  return { place, taskId: state.taskId };
}
