// `parley call`: calls a tool, shows what happens, and asks what the server asks.

import type { Tool } from "@modelcontextprotocol/client";
import type { Connection } from "../../client/index.ts";
import { halves } from "../args/halves.ts";
import { jsonIn } from "../args/json-file.ts";
import { Usage } from "../command.ts";
import type { Command } from "../command.ts";
import { finish, withSession } from "../call/finish.ts";
import { toolsOf } from "../server/listing.ts";
import { nearest } from "../args/nearest.ts";
import { parsed } from "../args/parsed.ts";
import { placeFrom } from "../server/place.ts";
import { plainLine } from "../screen/plain.ts";
import { checkReplay, checkTampering } from "../call/checks.ts";
import { callOptions } from "../call/session.ts";
import { accessHelp } from "../server/access.ts";
import { typedArguments } from "../args/typed-arguments.ts";

const options = {
  ...callOptions,
  args: { type: "string" },
  tamper: { type: "boolean" },
  replay: { type: "boolean" },
} as const;

export const call: Command = {
  help: `parley call <target> <tool> [name=value …]
parley call <tool> [name=value …] -- <command …>

Calls a tool, shows every round, and asks you what the server asks. The target
is a URL, a command in quotes, or a server file, which is started and ended for
you.

  parley call http://127.0.0.1:3000/mcp resolve_bug id=4522
  parley call server.ts resolve_bug id=4522
  parley call echo message=hi -- npx -y @modelcontextprotocol/server-everything

Arguments are typed by the tool's schema: seats=2 is a number where it wants
one, tags=a,b a list.
  name:=json               JSON as it is: filter:='{"open":true}'
  --args FILE              a JSON object of them (- is standard input)

Answers can be given beforehand. What is left is asked or, where nobody sits
there, printed with a reference and exit code 6.
  --answer key=json        may be repeated: --answer how=Fixed --answer of=4301
  --answers FILE           {"key": content, or {"action": "decline"}, …}
  --no-input               asks nobody, also at a terminal
  --journal DIR            where unfinished calls are kept (.parley/calls)
  --no-journal             keeps none
  --quiet                  says nothing on the way
${accessHelp}
To check your own server:
  --tamper                 changes its sealed state, which it must refuse
  --replay                 sends the same round twice, and compares

What --json prints:
  {"parley": 1, "status": "done" | "failed" | "inputNeeded" | "interrupted",
   "tool", "server": {"name", "version", "era"}, "result"?, "questions"?,
   "error"?: {"code", "message", "rpc"?}, "taskId"?, "ref"?, "id"?,
   "totals": {"rounds", "serverMs", "humanMs", "stateBytes": [], "steps"?}}
  --tamper, --replay: {"parley": 1, "check", "isFine", "verdict", "findings"}
`,
  run: async (args, io) => {
    const { own, command } = halves(args);
    const { values, positionals } = parsed("call", own, options);
    const hasTarget = command.length === 0;
    const place = placeFrom(hasTarget ? positionals[0] : undefined, command);
    const [tool, ...given] = hasTarget ? positionals.slice(1) : positionals;
    if (tool === undefined) throw new Usage("Which tool? parley list shows those of a server.");
    const base = values.args === undefined ? undefined : jsonIn(values.args, "the arguments");
    return withSession(place, values, io, async (session) => {
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

/** Undefined: the server does not list its tools. */
async function toolNamed(connection: Connection, name: string): Promise<Tool | undefined> {
  const tools = await toolsOf(connection);
  const found = tools.find((tool) => tool.name === name);
  if (found !== undefined || tools.length === 0) return found;
  const names = tools.map((tool) => plainLine(tool.name));
  const list = names.length > 12 ? `${names.slice(0, 12).join(", ")}, …` : names.join(", ");
  throw new Usage(`The server has no tool "${name}"${nearest(name, names)} It has ${list}.`);
}
