// `parley resume`: continues a call from another shell, another machine, or another day.

import { parseOptions, splitAtDashes } from "../args/command-line.ts";
import { finish, withSession } from "../call/finish.ts";
import { callOptions, folderIn } from "../call/session.ts";
import { exit, UsageError } from "../command.ts";
import type { Command, ExitCode, Io } from "../command.ts";
import { findCall, forget, unfinished } from "../journal/calls.ts";
import { listCalls } from "../journal/call-list.ts";
import { isReference, readReference } from "../journal/reference.ts";
import type { CallReference } from "../journal/reference.ts";
import { OwnMark } from "../journal/own-mark.ts";
import { targetIn, withoutToken } from "../journal/trust.ts";
import { counted, readDuration } from "../screen/amounts.ts";
import { accessHelp } from "../server/access.ts";
import { parseTarget } from "../server/target.ts";

const options = {
  ...callOptions,
  server: { type: "string" },
  detach: { type: "boolean" },
  trust: { type: "boolean" },
  print: { type: "boolean" },
  forget: { type: "boolean" },
  older: { type: "string" },
} as const;

/** `parley resume` */
export const resume: Command = {
  help: `Continues an unfinished call, or lists the unfinished calls.

Usage
  parley resume                     list the unfinished calls of this folder
  parley resume <id>                continue a call of this folder
  parley resume <reference>         continue a call from anywhere
  parley resume --forget <id>

Questions that were answered before are not asked again. A reference contains
the arguments, the answers and the server's sealed state, so treat it as a
secret. It does not contain headers or tokens: pass them again. For a call that
you did not start in this folder yourself, such as one in a cloned repository,
the command starts no program and does not send PARLEY_TOKEN, unless you add
--trust or name the server.

Options
  --answer key=value       one answer, as JSON or text; can be repeated
  --answers FILE           a JSON object of answers
  --server TARGET          where the server is now, if it has moved
  --trust                  trust the server of a call that you did not start
  --print                  print the reference of a call, to continue elsewhere
  --forget                 remove a call from the journal; the server is not
                           informed
  --older TIME             with --forget: remove all calls older than 12h, 7d, …
  --detach                 leave as soon as the call is a task, which goes on
  --journal DIR            where unfinished calls are kept (default:
                           .parley/calls)
  --no-input               never ask, even at a terminal
  --no-stream              print the result when it is complete, not as it comes
  --quiet                  print only the result, when it is complete

Connection
${accessHelp}
Examples
  parley resume
  parley resume 3f2a9c1b --answer how=Fixed
  parley resume --forget --older 7d

JSON (--json)
  the same as parley call or, without an id,
  {"parley": 1, "unfinished": [{"id", "tool", "since", "server", "questions",
   "taskId"?, "ref"}]}

Exit codes
  0 done or detached, 1 failed or cancelled, 2 usage error or an answer that
  does not fit, 6 an answer is needed, 7 timed out, 130 interrupted
`,
  run: async (args, io) => {
    const { own, command } = splitAtDashes(args);
    const { values, positionals } = parseOptions("resume", own, options);
    const [which, ...others] = positionals;
    if (others.length > 0) throw new UsageError("resume: pass one call.");
    const folder = folderIn(values);
    const mark = new OwnMark(io.env);
    if (values.forget === true) return forgotten(which, values.older, folder, mark, io);
    if (values.older !== undefined) throw new UsageError("--older needs --forget.");
    if (which === undefined)
      return listCalls(await unfinished(folder, mark), io, values.json ?? false);
    const { reference, text, isOurs } = await found(which, folder, mark);
    if (values.print === true) {
      io.out(`${text}\n`);
      return exit.done;
    }
    const isNamed = values.server !== undefined || command.length > 0;
    const isTrusted = isOurs || values.trust === true;
    const target = isNamed ? parseTarget(values.server, command) : targetIn(reference, isTrusted);
    const within = isNamed || isTrusted ? io : withoutToken(io);
    const { ref, state } = reference;
    if (values.detach === true && state.taskId !== undefined)
      throw new UsageError("The call is a task already, and goes on without this command.");
    // A call that began in a 2025-11-25 session can only be continued in one.
    const as = values.as ?? (state.isLegacy ? "legacy" : undefined);
    return withSession(target, { ...values, as }, within, async (session) => {
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
  /** Whether this person started the call in this folder. */
  readonly isOurs: boolean;
}

async function found(which: string, folder: string, own: OwnMark): Promise<Found> {
  if (isReference(which)) {
    const reference = readReference(which);
    const kept = await unfinished(folder, own);
    const isOurs = kept.some(({ text, isOwn }) => isOwn && text === which);
    return { reference, text: which, isOurs };
  }
  const kept = await findCall(folder, which, own);
  return { reference: kept, text: kept.text, isOurs: kept.isOwn };
}

async function forgotten(
  which: string | undefined,
  older: string | undefined,
  folder: string,
  own: OwnMark,
  { out }: Io,
): Promise<ExitCode> {
  if ((which === undefined) === (older === undefined)) {
    throw new UsageError("--forget needs the id of a call, or --older 7d.");
  }
  const calls =
    which === undefined
      ? await olderThan(older ?? "", folder, own)
      : [await findCall(folder, which, own)];
  for (const { state } of calls) await forget(folder, state.id);
  out(`Removed ${counted(calls.length, "call")} from the journal. Servers were not informed.\n`);
  return exit.done;
}

async function olderThan(older: string, folder: string, own: OwnMark) {
  const ms = readDuration(older);
  if (ms === undefined)
    throw new UsageError(`--older takes a time such as 12h or 7d, not "${older}".`);
  return (await unfinished(folder, own)).filter(({ state }) => Date.now() - state.since > ms);
}
