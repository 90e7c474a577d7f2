// `parley resume`: goes on with a call of another shell, another machine, or another day.

import { halves } from "../args/halves.ts";
import { parsed } from "../args/parsed.ts";
import { finish, withSession } from "../call/finish.ts";
import { callOptions, folderIn } from "../call/session.ts";
import { exit, Usage } from "../command.ts";
import type { Command, ExitCode, Io } from "../command.ts";
import { findCall, forget, unfinished } from "../journal/calls.ts";
import { listCalls } from "../journal/listing.ts";
import { isReference, readReference } from "../journal/reference.ts";
import type { CallReference } from "../journal/reference.ts";
import { counted, readDuration } from "../screen/amounts.ts";
import { plainLine } from "../screen/plain.ts";
import { accessHelp } from "../server/access.ts";
import { nameOf, placeFrom } from "../server/place.ts";
import type { Place } from "../server/place.ts";

const options = {
  ...callOptions,
  server: { type: "string" },
  trust: { type: "boolean" },
  print: { type: "boolean" },
  forget: { type: "boolean" },
  older: { type: "string" },
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
  parley resume --forget 3f2a9c1b     # or: parley resume --forget --older 7d

A reference holds the arguments, the answers and the server's sealed state:
treat it as a secret. Headers and tokens are not in it; pass them again. One
that is not from the journal here starts no program and is not told
PARLEY_TOKEN, unless you say --trust or name the server.

  --answer key=json        may be repeated; --answers FILE takes a JSON object
  --server TARGET          where the server is, if it is not where it was
  --trust                  a whole reference names the right server
  --print                  prints the whole reference of a call in the journal
  --forget                 takes it out of the journal, and tells no server
  --older TIME             with --forget: all that were begun before: 12h, 7d
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
    if (values.forget === true) return forgotten(which, values.older, folder, io);
    if (values.older !== undefined) throw new Usage("--older goes with --forget.");
    if (which === undefined) return listCalls(await unfinished(folder), io, values.json ?? false);
    const { reference, text, isOurs } = await found(which, folder);
    if (values.print === true) {
      io.out(`${text}\n`);
      return exit.done;
    }
    const isNamed = values.server !== undefined || command.length > 0;
    const isTrusted = isOurs || values.trust === true;
    const place = isNamed ? placeFrom(values.server, command) : placeIn(reference, isTrusted);
    const { PARLEY_TOKEN: _token, ...env } = io.env;
    const within = isNamed || isTrusted ? io : { ...io, env };
    const { ref, state } = reference;
    return withSession(place, values, within, async (session) => {
      const { connection, timeoutMs } = session;
      const call = connection.resume(ref, { timeoutMs });
      const { name: tool, args: toolArgs, rounds, taskId } = state;
      return finish(call, session, { tool, args: toolArgs, rounds, taskId }, io);
    });
  },
};

interface Found {
  readonly reference: CallReference;
  readonly text: string;
  /** It is from the journal, not from somebody who may want to have a program run here. */
  readonly isOurs: boolean;
}

async function found(which: string, folder: string): Promise<Found> {
  if (isReference(which)) {
    const reference = readReference(which);
    const kept = await unfinished(folder);
    const isOurs = kept.some(({ text }) => text === which);
    return { reference, text: which, isOurs };
  }
  const kept = await findCall(folder, which);
  return { reference: kept, text: kept.text, isOurs: true };
}

function placeIn({ place }: CallReference, isTrusted: boolean): Place {
  if (place === undefined) {
    throw new Usage("That reference does not say where its server is. Name it with --server.");
  }
  if (isTrusted || place.kind === "url") return place;
  const program = plainLine(nameOf(place), 500);
  throw new Usage(
    `That reference is not from the journal here, and would start a program: ${program}\nIf that is what you want, say so with --trust.`,
  );
}

async function forgotten(
  which: string | undefined,
  older: string | undefined,
  folder: string,
  { out }: Io,
): Promise<ExitCode> {
  if ((which === undefined) === (older === undefined)) {
    throw new Usage("--forget takes the id of a call, or --older 7d.");
  }
  const calls =
    which === undefined ? await olderThan(older ?? "", folder) : [await findCall(folder, which)];
  for (const { state } of calls) await forget(folder, state.id);
  out(`Forgotten: ${counted(calls.length, "call")}. No server was told.\n`);
  return exit.done;
}

async function olderThan(older: string, folder: string) {
  const ms = readDuration(older);
  if (ms === undefined) throw new Usage(`--older takes a time such as 12h or 7d, not "${older}".`);
  return (await unfinished(folder)).filter(({ state }) => Date.now() - state.since > ms);
}
