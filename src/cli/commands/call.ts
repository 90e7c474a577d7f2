// `parley call`: calls a tool, shows its rounds, and asks what the server asks.

import type { Tool } from "@modelcontextprotocol/client";
import type { Connection } from "../../client/index.ts";
import { didYouMean, parseOptions, readJsonObject, splitAtDashes } from "../args/command-line.ts";
import { UsageError } from "../command.ts";
import type { Command } from "../command.ts";
import { finish, withSession } from "../call/finish.ts";
import { toolsOf } from "../server/catalog.ts";
import { howToList, targetAndWords } from "../server/target.ts";
import { plainLine } from "../screen/plain.ts";
import { checkReplay, checkTampering } from "../call/checks.ts";
import { callOptions } from "../call/session.ts";
import { accessHelp } from "../server/access.ts";
import { typedArguments } from "../args/typed-arguments.ts";

const options = {
  ...callOptions,
  args: { type: "string" },
  detach: { type: "boolean" },
  tamper: { type: "boolean" },
  replay: { type: "boolean" },
} as const;

/** `parley call` */
export const call: Command = {
  help: `Calls a tool, shows each round, and asks you what the server asks.

Usage
  parley call <target> <tool> [name=value …]
  parley call <tool> [name=value …] -- <command …>

The target is a URL, a server file, or a command in quotes. A server file or a
command is started for you, and stopped when the call ends.

Arguments follow the tool's schema: seats=2 becomes a number if the tool expects
one, and tags=a,b becomes a list.
  name=value               one argument
  name:=json               an argument as JSON: filter:='{"open":true}'
  --args FILE              all arguments as one JSON object (- reads stdin)

Answers can be given in advance. At a terminal, you are asked the other
questions. Without a terminal, they are printed with a reference to resume the
call, and the exit code is 6.
  --answer key=value       one answer, as JSON or text; can be repeated
  --answers FILE           a JSON object: {"key": content}, or
                           {"key": {"action": "decline"}}
  --detach                 leave as soon as the call is a task, which goes on:
                           print its id, and exit with 0
  --no-input               never ask, even at a terminal
  --journal DIR            where unfinished calls are kept (default:
                           .parley/calls)
  --no-journal             do not keep the call
  --no-stream              print the result when it is complete, not as it comes
  --quiet                  print only the result, when it is complete

Connection
${accessHelp}
Checks of your own server
  --tamper                 send a changed state, which the server must refuse
  --replay                 send the same round twice and compare the responses

Examples
  parley call http://127.0.0.1:3000/mcp resolve_bug id=4522
  parley call server.ts resolve_bug id=4522 --answer how=Fixed
  parley call http://127.0.0.1:3000/mcp deploy version=1.4.2 --detach
  parley call echo message=hi -- npx -y @modelcontextprotocol/server-everything

JSON (--json)
  {"parley": 1, "status": "done" | "failed" | "inputNeeded" | "interrupted" |
   "detached", "tool", "server": {"name", "version", "era"}, "result"?,
   "questions"?, "error"?: {"code", "message", "rpc"?}, "taskId"?, "ref"?,
   "id"?,
   "totals": {"rounds", "serverMs", "humanMs", "stateBytes": [], "steps"?}}
  --tamper, --replay: {"parley": 1, "check", "isFine", "verdict", "findings"}

Exit codes
  0 done or detached, 1 failed or cancelled, 2 usage error or an answer that
  does not fit, 6 an answer is needed, 7 timed out, 130 interrupted
`,
  run: async (args, io) => {
    const { own, command } = splitAtDashes(args);
    const { values, positionals } = parseOptions("call", own, options);
    const { target, others } = targetAndWords(positionals, command);
    const [tool, ...given] = others;
    if (tool === undefined)
      throw new UsageError(
        `No tool was given. To see the tools of the server, run: ${howToList(positionals[0], command)}`,
      );
    if (values.detach === true && target.kind !== "url") throw new UsageError(stopsWithCall);
    if (values.detach === true && (values.tamper === true || values.replay === true))
      throw new UsageError("--detach cannot be used with --tamper or --replay.");
    const base =
      values.args === undefined ? undefined : readJsonObject(values.args, "the arguments");
    return withSession(target, values, io, async (session) => {
      const found = await toolNamed(session.connection, tool);
      const toolArgs = typedArguments(given, found?.inputSchema ?? {}, base);
      if (values.tamper === true) return checkTampering(session, tool, toolArgs, io);
      if (values.replay === true) return checkReplay(session, tool, toolArgs, io);
      const { connection, timeoutMs } = session;
      const ongoing = connection.start(tool, { ...toolArgs }, { timeoutMs });
      return finish(ongoing, session, { tool, args: toolArgs }, io);
    });
  },
};

const stopsWithCall =
  "--detach needs the URL of a server that runs by itself. A server that the command starts is stopped when the command ends, so it would not run the task.";

/** The tool, or undefined if the server does not list its tools. */
async function toolNamed(connection: Connection, name: string): Promise<Tool | undefined> {
  const tools = await toolsOf(connection);
  const found = tools.find((tool) => tool.name === name);
  if (found !== undefined || tools.length === 0) return found;
  const names = tools.map((tool) => plainLine(tool.name));
  const list = names.length > 12 ? `${names.slice(0, 12).join(", ")}, …` : names.join(", ");
  throw new UsageError(
    `The server has no tool "${name}"${didYouMean(name, names)} It has ${list}.`,
  );
}
