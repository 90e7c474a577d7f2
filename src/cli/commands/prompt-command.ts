// `parley prompt`: gets a prompt, and asks what the server asks.

import type { GetPromptResult, Prompt } from "@modelcontextprotocol/client";
import type { Connection } from "../../client/index.ts";
import { didYouMean, parseOptions, splitAtDashes } from "../args/command-line.ts";
import { fetchAndPrint, fetchOptions } from "../call/fetch.ts";
import { blockText } from "../call/outcome.ts";
import { UsageError } from "../command.ts";
import type { Command } from "../command.ts";
import { plainLine } from "../screen/plain.ts";
import { accessHelp } from "../server/access.ts";
import { promptsOf } from "../server/catalog.ts";
import { howToList, parseTarget } from "../server/target.ts";

/** `parley prompt` */
export const prompt: Command = {
  help: `Gets a prompt from a server, and asks you what the server asks.

Usage
  parley prompt <target> <name> [argument=value …]
  parley prompt <name> [argument=value …] -- <command …>

The target is a URL, a server file, or a command in quotes. parley list shows
the prompts of a server.

Answers can be given in advance. At a terminal, you are asked the other
questions. Without a terminal, the first open question is printed, and the exit
code is 6.
  --answer key=value       one answer, as JSON or text; can be repeated
  --answers FILE           a JSON object of answers
  --no-input               never ask, even at a terminal

Connection
${accessHelp}
Examples
  parley prompt http://127.0.0.1:3000/mcp review file=src/app.ts

JSON (--json)
  {"parley": 1, "status": "done" | "failed" | "inputNeeded", "result"?,
   "questions"?, "error"?: {"code", "message", "rpc"?}}

Exit codes
  0 done, 1 failed, 2 usage error, 6 an answer is needed, 7 timed out,
  130 interrupted
`,
  run: (args, io) => {
    const { own, command } = splitAtDashes(args);
    const { values, positionals } = parseOptions("prompt", own, fetchOptions);
    const hasTarget = command.length === 0;
    const target = parseTarget(hasTarget ? positionals[0] : undefined, command);
    const [name, ...words] = hasTarget ? positionals.slice(1) : positionals;
    if (name === undefined) {
      throw new UsageError(
        `No prompt was given. To see the prompts of the server, run: ${howToList(positionals[0], command)}`,
      );
    }
    const given = Object.fromEntries(words.map(argument));
    return fetchAndPrint(
      target,
      values,
      io,
      async (connection, options) => {
        check(await promptNamed(connection, name), given);
        return connection.prompt(name, given, options);
      },
      textOf,
    );
  },
};

function argument(word: string): [string, string] {
  const [, name, value] = /^([^=]+)=(.*)$/s.exec(word) ?? [];
  if (name !== undefined && value !== undefined) return [name, value];
  throw new UsageError(`An argument of a prompt is written as name=value, not "${word}".`);
}

/** The prompt, or undefined if the server does not list its prompts. */
async function promptNamed(connection: Connection, name: string): Promise<Prompt | undefined> {
  const prompts = await promptsOf(connection);
  const found = prompts.find((one) => one.name === name);
  if (found !== undefined || prompts.length === 0) return found;
  const names = prompts.map((one) => plainLine(one.name));
  throw new UsageError(`The server has no prompt "${name}"${didYouMean(name, names)}`);
}

function check(found: Prompt | undefined, given: Readonly<Record<string, string>>): void {
  if (found === undefined) return;
  const known = found.arguments ?? [];
  const names = known.map((one) => plainLine(one.name));
  const unknown = Object.keys(given).find((name) => !known.some((one) => one.name === name));
  if (unknown !== undefined) {
    throw new UsageError(`The prompt has no argument "${unknown}"${didYouMean(unknown, names)}`);
  }
  const missing = known.find(
    ({ name, required }) => required === true && !Object.hasOwn(given, name),
  );
  if (missing === undefined) return;
  const name = plainLine(missing.name);
  throw new UsageError(`The prompt needs ${name}. Add ${name}=…`);
}

const textOf = ({ messages }: GetPromptResult): string =>
  messages.map(({ role, content }) => `${plainLine(role)}: ${blockText(content)}\n`).join("");
