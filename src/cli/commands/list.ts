// `parley list`: lists what a server offers.

import type { Prompt, Tool } from "@modelcontextprotocol/client";
import { isObject, own } from "../../util/objects.ts";
import type { Connection } from "../../client/index.ts";
import { tasksExtension } from "../../protocol/task.ts";
import { parseOptions, splitAtDashes } from "../args/command-line.ts";
import { exit } from "../command.ts";
import type { Command } from "../command.ts";
import { promptsOf, resourcesOf, toolsOf } from "../server/catalog.ts";
import { tellFailure } from "../call/outcome.ts";
import { parseTarget } from "../server/target.ts";
import { plainJson, plainLine } from "../screen/plain.ts";
import type { ConnectedServer } from "../server/connection.ts";
import { printerFor } from "../screen/printer.ts";
import { accessHelp, accessOf, accessOptions, openConnection } from "../server/access.ts";
import { expected } from "../args/typed-arguments.ts";

/** `parley list` */
export const list: Command = {
  help: `Lists a server's tools, prompts and resources, with the arguments they take.

Usage
  parley list <target>
  parley list -- <command …>

The target is a URL, a server file, or a command in quotes. A server file or a
command is started for you, and stopped at the end. If the server says which
tools can run as tasks, they are marked.

Connection
${accessHelp}
Examples
  parley list http://127.0.0.1:3000/mcp
  parley list server.ts --json
  parley list -- npx -y @modelcontextprotocol/server-everything

JSON (--json)
  {"parley": 1, "server", "tools", "prompts", "resources",
   "resourceTemplates"}, as the server sent them

Exit codes
  0 done, 1 failed, 2 usage error, 7 timed out
`,
  run: async (args, io) => {
    const words = splitAtDashes(args);
    const { values, positionals } = parseOptions("list", words.own, accessOptions);
    const target = parseTarget(positionals[0], words.command);
    let connected: ConnectedServer | undefined;
    try {
      connected = await openConnection(target, accessOf(values, io), values, printerFor(io), io);
      const { connection } = connected;
      const offered = await offeredBy(connection);
      io.out(
        values.json === true
          ? `${plainJson(asJson(connection, offered))}\n`
          : asText(connection, offered),
      );
      return exit.done;
    } catch (error) {
      return tellFailure(error, io, values.json ?? false);
    } finally {
      await connected?.close();
    }
  },
};

async function offeredBy(connection: Connection) {
  const tools = await toolsOf(connection);
  const prompts = await promptsOf(connection);
  return { tools, prompts, ...(await resourcesOf(connection)) };
}

type Offered = Awaited<ReturnType<typeof offeredBy>>;

function asJson({ server, era }: Connection, { tools, prompts, resources, templates }: Offered) {
  return {
    parley: 1,
    server: { ...server, era },
    tools,
    prompts,
    resources,
    resourceTemplates: templates,
  };
}

function asText(connection: Connection, { tools, prompts, resources, templates }: Offered): string {
  const { server, era, sdk } = connection;
  const extensions = own(sdk.getServerCapabilities(), "extensions");
  const hasTasks = own(extensions, tasksExtension) !== undefined;
  const facts = [plainLine(server.version), era, ...(hasTasks ? ["tasks"] : [])];
  const sections = [
    `${plainLine(server.name)} (${facts.join(", ")})\n`,
    section("Tools", tools.map(toolText)),
    section("Prompts", prompts.map(promptText)),
    section(
      "Resources",
      [
        ...resources.map(({ uri, name }) => [uri, name]),
        ...templates.map(({ uriTemplate, name }) => [uriTemplate, name]),
      ].map(([uri = "", name = ""]) => `  ${plainLine(uri)}  ${plainLine(name)}\n`),
    ),
  ];
  return sections.filter((text) => text !== "").join("\n");
}

const section = (title: string, entries: readonly string[]) =>
  entries.length === 0 ? "" : `${title}\n${entries.join("")}`;

function toolText(tool: Tool): string {
  const { name, description = "", inputSchema } = tool;
  const properties = own(inputSchema, "properties");
  const required = own(inputSchema, "required");
  const args = Object.entries(isObject(properties) ? properties : {}).map(([arg, field]) => {
    const isRequired = Array.isArray(required) && required.includes(arg);
    const about = own(field, "description");
    const more = typeof about === "string" ? ` (${plainLine(about, 60)})` : "";
    return `      ${plainLine(arg, 40)}: ${expected(field)}${isRequired ? "" : ", optional"}${more}\n`;
  });
  const support = own(own(tool, "execution"), "taskSupport");
  const task = support === "required" || support === "optional" ? `  [task: ${support}]` : "";
  return `  ${plainLine(name)}${task}\n${about(description)}${args.join("")}`;
}

function promptText({ name, description = "", arguments: args = [] }: Prompt): string {
  const lines = args.map(
    (arg) => `      ${plainLine(arg.name, 40)}: text${arg.required === true ? "" : ", optional"}\n`,
  );
  return `  ${plainLine(name)}\n${about(description)}${lines.join("")}`;
}

const about = (description: string) =>
  description === "" ? "" : `    ${plainLine(description, 74)}\n`;
