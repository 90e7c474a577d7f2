// `parley prompt`: gets a prompt, and asks what the server asks.

import type { GetPromptResult, Prompt } from "@modelcontextprotocol/client";
import type { Connection } from "../../client/index.ts";
import { didYouMean, parseOptions, splitAtDashes } from "../args/command-line.ts";
import { answersHelp, fetchAndPrint, fetchOptions, outputHelp } from "../call/fetch.ts";
import { blockText } from "../call/block-text.ts";
import { UsageError } from "../command.ts";
import type { Command } from "../command.ts";
import { plainLine } from "../screen/plain.ts";
import { accessHelp } from "../server/access.ts";
import { promptsOf } from "../server/catalog.ts";
import { howToList, targetAndWords } from "../server/target.ts";

/** `parley prompt` */
export const prompt: Command = {
  help: `Gets a prompt from a server, and asks you what the server asks.

Usage
  parley prompt <target> <name> [argument=value …]
  parley prompt <name> [argument=value …] -- <command …>

The target is a URL, a server file, or a command in quotes. parley list shows
the prompts of a server.

${answersHelp}
Connection
${accessHelp}
Examples
  parley prompt http://127.0.0.1:3000/mcp review file=src/app.ts

${outputHelp}`,
  run: (args, io) => {
    const { own, command } = splitAtDashes(args);
    const { values, positionals } = parseOptions("prompt", own, fetchOptions);
    const { target, others } = targetAndWords(positionals, command);
    const [name, ...words] = others;
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
