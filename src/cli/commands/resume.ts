// `parley resume`: goes on with a call of another shell, another machine, or another day.

import { duration } from "../amounts.ts";
import { isReference, readReference, shortId } from "../call-reference.ts";
import type { CallReference } from "../call-reference.ts";
import { findCall, unfinished } from "../calls.ts";
import type { Kept } from "../calls.ts";
import { halves } from "../command-line.ts";
import { exit, Usage } from "../command.ts";
import type { Command, ExitCode, Io } from "../command.ts";
import { finish, withSession } from "../finish.ts";
import { parsed } from "../parsed.ts";
import { nameOf, placeFrom } from "../place.ts";
import { plainJson, plainLine } from "../plain.ts";
import { accessHelp, callOptions, folderIn } from "../session.ts";

const options = {
  ...callOptions,
  server: { type: "string" },
  print: { type: "boolean" },
} as const;

export const resume: Command = {
  help: `parley resume [<id or reference>] [--answer key=json …]

Goes on with a call that was left: by its id, which the journal of this folder
knows, or by its whole reference, from anywhere. Without either, lists the calls
that are not finished. What was answered before is not asked again.

  parley resume
  parley resume 3f2a9c1b
  parley resume 3f2a9c1b --answer how=Fixed
  parley resume 3f2a9c1b --print      # the whole reference, to go on elsewhere

A reference holds the arguments, the answers and the server's sealed state:
treat it as a secret. Headers and tokens are not in it; pass them again.

  --answer key=json        may be repeated; --answers FILE takes a JSON object
  --server TARGET          where the server is, if it is not where it was
  --print                  prints the whole reference of a call in the journal
  --journal DIR            where unfinished calls are kept (.parley/calls)
  --no-input               asks nobody, also at a terminal
  --quiet                  says nothing on the way
${accessHelp}
--json prints what parley call does or, without an id,
  {"parley": 1, "unfinished": [{"id", "tool", "since", "server", "questions",
   "taskId"?, "ref"}]}
`,
  run: async (args, io) => {
    const { own, command } = halves(args);
    const { values, positionals } = parsed("resume", own, options);
    const [which, ...others] = positionals;
    if (others.length > 0) throw new Usage("resume: name one call.");
    const folder = folderIn(values);
    if (which === undefined) return list(await unfinished(folder), io, values.json ?? false);
    const { reference, text } = await found(which, folder);
    if (values.print === true) {
      io.out(`${text}\n`);
      return exit.done;
    }
    const isNamed = values.server !== undefined || command.length > 0;
    const place = isNamed ? placeFrom(values.server, command) : reference.place;
    if (place === undefined) {
      throw new Usage("That reference does not say where its server is. Name it with --server.");
    }
    const { ref, state } = reference;
    return withSession(place, values, io, async (session) => {
      const { connection, timeoutMs } = session;
      const call = connection.resume(ref, { timeoutMs });
      const { name: tool, args: toolArgs, rounds, taskId } = state;
      return finish(call, session, { tool, args: toolArgs, rounds, taskId }, io);
    });
  },
};

async function found(
  which: string,
  folder: string,
): Promise<{ readonly reference: CallReference; readonly text: string }> {
  if (isReference(which)) return { reference: readReference(which), text: which };
  if (!/^[\da-f-]{3,36}$/.test(which)) {
    throw new Usage(`"${plainLine(which, 40)}" is neither the id nor the reference of a call.`);
  }
  const kept = await findCall(folder, which);
  return { reference: kept, text: kept.text };
}

function list(calls: readonly Kept[], { out }: Io, isJson: boolean): ExitCode {
  if (isJson) {
    const entries = calls.map(({ state, place, text }) => ({
      id: shortId(state),
      tool: state.name,
      since: new Date(state.since).toISOString(),
      server: place === undefined ? state.target : nameOf(place),
      questions: [...state.questions.keys()].filter((key) => !state.answers.has(key)),
      ...(state.taskId !== undefined && { taskId: state.taskId }),
      ref: text,
    }));
    out(`${plainJson({ parley: 1, unfinished: entries })}\n`);
    return exit.done;
  }
  if (calls.length === 0) out("No call is unfinished here.\n");
  for (const { state, place } of calls) {
    const age = duration(Date.now() - state.since);
    const where = plainLine(place === undefined ? state.target : nameOf(place), 60);
    out(
      `${shortId(state)}  ${plainLine(state.name, 40)}  ${standing(state)}, ${age} ago  ${where}\n`,
    );
  }
  return exit.done;
}

function standing({ result, taskId, questions, answers }: Kept["state"]): string {
  if (result !== undefined) return "done, not fetched";
  const open = [...questions.keys()]
    .filter((key) => !answers.has(key))
    .map((key) => plainLine(key, 40));
  if (open.length > 0) return `asks ${open.join(", ")}`;
  return taskId === undefined ? "sent" : "a task";
}
