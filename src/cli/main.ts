#!/usr/bin/env node
// The command. The only file that reads argv and exits; each command is loaded when it is called.

import process from "node:process";
import { errorText } from "../util/error-text.ts";
import { halves } from "./args/halves.ts";
import { exit, terminal, Usage } from "./command.ts";
import type { Command, ExitCode } from "./command.ts";
import { nearest } from "./args/nearest.ts";
import { ownManifest } from "./own-files.ts";
import { plain } from "./screen/plain.ts";

interface Entry {
  readonly usage: string;
  readonly summary: string;
  readonly load: () => Promise<Command>;
}

const commands: Readonly<Record<string, Entry>> = {
  call: {
    usage: "call <target> <tool> …",
    summary: "call a tool, see its rounds, answer what it asks",
    load: async () => (await import("./commands/call.ts")).call,
  },
  resume: {
    usage: "resume [<id>]",
    summary: "go on with a call, or list the unfinished ones",
    load: async () => (await import("./commands/resume.ts")).resume,
  },
  tasks: {
    usage: "tasks ls|get|watch|…",
    summary: "long calls: on their server, or in the store",
    load: async () => (await import("./commands/tasks.ts")).tasks,
  },
  list: {
    usage: "list <target>",
    summary: "a server's tools, prompts and resources",
    load: async () => (await import("./commands/list.ts")).list,
  },
  demo: {
    usage: "demo",
    summary: "see a call survive kill -9, on this machine",
    load: async () => (await import("./commands/demo.ts")).demo,
  },
  dev: {
    usage: "dev <file>",
    summary: "run a server file, and again when it is saved",
    load: async () => (await import("./commands/dev.ts")).dev,
  },
  init: {
    usage: "init [folder]",
    summary: "a server to start from, with its test",
    load: async () => (await import("./commands/init.ts")).init,
  },
  keys: {
    usage: "keys new|rotate",
    summary: "keys for PARLEY_KEYS",
    load: async () => (await import("./commands/keys.ts")).keys,
  },
  token: {
    usage: "token inspect <token>",
    summary: "what a requestState holds, with its key",
    load: async () => (await import("./commands/token.ts")).token,
  },
  worker: {
    usage: "worker <file>",
    summary: "run the tasks of an app, and serve nothing",
    load: async () => (await import("./commands/worker.ts")).worker,
  },
  doctor: {
    usage: "doctor [<url> …]",
    summary: "what is wrong with a setup, and what to do",
    load: async () => (await import("./commands/doctor.ts")).doctor,
  },
  migrate: {
    usage: "migrate <store>",
    summary: "make a task store's tables, or print the SQL",
    load: async () => (await import("./commands/migrate.ts")).migrate,
  },
};

const width = Math.max(...Object.values(commands).map(({ usage }) => usage.length));
const help = `parley <command>

${Object.values(commands)
  .map(({ usage, summary }) => `  ${usage.padEnd(width)}  ${summary}\n`)
  .join("")}
parley <command> --help says more, with examples.
Exit codes: 0 done, 1 failed or cancelled, 2 called wrongly, 6 an answer is
needed, 7 timed out, 130 interrupted.
`;

process.exitCode = await main(process.argv.slice(2));

async function main([name = "--help", ...args]: readonly string[]): Promise<ExitCode> {
  const { out, err } = terminal;
  if (isHelp(name)) {
    out(help);
    return exit.done;
  }
  if (name === "--version" || name === "-v") {
    out(`${ownManifest().version}\n`);
    return exit.done;
  }
  const entry = Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (entry === undefined) {
    err(`parley: there is no command "${name}"${nearest(name, Object.keys(commands))}\n\n${help}`);
    return exit.usage;
  }
  try {
    const command = await entry.load();
    // What follows `--` is for somebody else.
    if (halves(args).own.some(isHelp)) {
      out(command.help);
      return exit.done;
    }
    return (await command.run(args, terminal)) ?? exit.done;
  } catch (error) {
    // A server may have had its say in it.
    const message = plain(missingPackage(error) ?? errorText(error));
    if (!(error instanceof Usage)) {
      err(`${message}\n`);
      return exit.failed;
    }
    err(`${message}\nparley ${name} --help shows how.\n`);
    return exit.usage;
  }
}

/** Some commands need a package that the library does without. */
function missingPackage(error: unknown): string | undefined {
  const isMissing =
    error instanceof Error && "code" in error && error.code === "ERR_MODULE_NOT_FOUND";
  const [, name] = (isMissing && /^Cannot find package '([^']+)'/.exec(error.message)) || [];
  return name && `This takes the package ${name}: npm install ${name}`;
}

function isHelp(word: string): boolean {
  return word === "--help" || word === "-h";
}
