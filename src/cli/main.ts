#!/usr/bin/env node
// The command. The only file that reads argv, prints and exits.

import process from "node:process";
import type { Command } from "./command.ts";
import { Usage } from "./command.ts";
import { keys } from "./commands/keys.ts";
import { migrate } from "./commands/migrate.ts";

const commands = new Map<string, Command>(Object.entries({ keys, migrate }));

const help = `${[...commands.values()].map(({ summary }) => `mcp-parley ${summary}`).join("\n")}

mcp-parley <command> --help says more.
`;

const [name = "--help", ...args] = process.argv.slice(2);
const command = commands.get(name);
const isHelp = (word: string) => word === "--help" || word === "-h";
if (command !== undefined && !args.some(isHelp)) await run(command);
else if (command !== undefined) process.stdout.write(command.help);
else if (isHelp(name)) process.stdout.write(help);
else complain(`Unknown command: ${name}\n\n${help}`, 2);

async function run({ run: act, help: usage }: Command): Promise<void> {
  try {
    await act(args, (text) => void process.stdout.write(text));
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    if (error instanceof Usage) complain(`${message}\n\n${usage}`, 2);
    else complain(`${message}\n`, 1);
  }
}

function complain(text: string, exitCode: number): void {
  process.stderr.write(text);
  process.exitCode = exitCode;
}
