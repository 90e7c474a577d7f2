// Finds the subcommand in a command line, loads it, and turns its outcome into an exit code.

import { errorText } from "../util/error-text.ts";
import { didYouMean, splitAtDashes } from "./args/command-line.ts";
import { exit, UsageError } from "./command.ts";
import type { Command, ExitCode, Io } from "./command.ts";
import { ownManifest } from "./own-files.ts";
import { asTyped, ownName } from "./own-name.ts";
import { plain } from "./screen/plain.ts";

interface Entry {
  readonly usage: string;
  readonly summary: string;
  readonly load: () => Promise<Command>;
}

const commands: Readonly<Record<string, Entry>> = {
  call: {
    usage: "call <target> <tool> …",
    summary: "call a tool and answer its questions",
    load: async () => (await import("./commands/call.ts")).call,
  },
  resume: {
    usage: "resume [<id>]",
    summary: "continue a call, or list unfinished calls",
    load: async () => (await import("./commands/resume.ts")).resume,
  },
  tasks: {
    usage: "tasks ls|get|watch|…",
    summary: "show, watch, answer or cancel tasks",
    load: async () => (await import("./commands/tasks.ts")).tasks,
  },
  audit: {
    usage: "audit <store>",
    summary: "show who was asked what and who decided, and check it",
    load: async () => (await import("./commands/audit.ts")).audit,
  },
  list: {
    usage: "list <target>",
    summary: "list a server's tools, prompts and resources",
    load: async () => (await import("./commands/list.ts")).list,
  },
  prompt: {
    usage: "prompt <target> <name> …",
    summary: "get a prompt and answer its questions",
    load: async () => (await import("./commands/prompt-command.ts")).prompt,
  },
  read: {
    usage: "read <target> <uri>",
    summary: "read a resource and answer its questions",
    load: async () => (await import("./commands/read-command.ts")).read,
  },
  demo: {
    usage: "demo",
    summary: "see a call survive kill -9, on this machine",
    load: async () => (await import("./commands/demo.ts")).demo,
  },
  dev: {
    usage: "dev <file>",
    summary: "run a server file, with reload on save",
    load: async () => (await import("./commands/dev.ts")).dev,
  },
  init: {
    usage: "init [folder]",
    summary: "create a server and its test",
    load: async () => (await import("./commands/init.ts")).init,
  },
  keys: {
    usage: "keys new|rotate",
    summary: "create or rotate the keys of a server",
    load: async () => (await import("./commands/keys.ts")).keys,
  },
  token: {
    usage: "token inspect <token>",
    summary: "show what a requestState contains",
    load: async () => (await import("./commands/token.ts")).token,
  },
  worker: {
    usage: "worker <file>",
    summary: "run the tasks of an app",
    load: async () => (await import("./commands/worker.ts")).worker,
  },
  doctor: {
    usage: "doctor [<url> …]",
    summary: "check a setup and say what to fix",
    load: async () => (await import("./commands/doctor.ts")).doctor,
  },
  console: {
    usage: "console <store>",
    summary: "see and answer tasks in your browser",
    load: async () => (await import("./commands/console.ts")).console,
  },
  migrate: {
    usage: "migrate <store>",
    summary: "create or update the tables of a task store",
    load: async () => (await import("./commands/migrate.ts")).migrate,
  },
};

const width = Math.max(...Object.values(commands).map(({ usage }) => usage.length));
const help = `Calls, runs and checks MCP servers.

Usage
  parley <command> [options]

Commands
${Object.values(commands)
  .map(({ usage, summary }) => `  ${usage.padEnd(width)}  ${summary}\n`)
  .join("")}
Examples
  parley init my-server
  parley call http://127.0.0.1:3000/mcp resolve_bug id=4522

Run parley <command> --help for its options and examples.

Exit codes
  0 done, 1 failed or cancelled, 2 usage error, 3 other keys are needed,
  6 an answer is needed, 7 timed out, 130 interrupted
`;

/** How a command line ended. */
export interface Dispatched {
  readonly code: ExitCode;
  /** The process has to be ended, because the command ran a person's file. */
  readonly endsProcess: boolean;
}

/** Runs the command that the words name, and turns its outcome into an exit code. */
export async function dispatch(words: readonly string[], io: Io): Promise<Dispatched> {
  const [name = "--help", ...args] = words;
  const { out, err } = io;
  if (isHelp(name)) {
    out(help);
    return ended(exit.done);
  }
  if (name === "--version" || name === "-v") {
    out(`${ownManifest().version}\n`);
    return ended(exit.done);
  }
  const entry = Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (entry === undefined) {
    err(`parley: unknown command "${name}"${didYouMean(name, Object.keys(commands))}\n\n${help}`);
    return ended(exit.usage);
  }
  let endsProcess = false;
  try {
    const command = await entry.load();
    // The words after `--` belong to the command of a server.
    if (splitAtDashes(args).own.some(isHelp)) {
      out(command.help);
      return ended(exit.done);
    }
    endsProcess = command.endsProcess ?? false;
    return { code: (await command.run(args, io)) ?? exit.done, endsProcess };
  } catch (error) {
    // The message may contain text from a server.
    const message = asTyped(plain(missingPackage(error) ?? errorText(error)), io.env);
    if (!(error instanceof UsageError)) {
      err(`${message}\n`);
      return { code: exit.failed, endsProcess };
    }
    err(`${message}\nRun ${ownName(io.env)} ${name} --help for its usage.\n`);
    return { code: exit.usage, endsProcess };
  }
}

const ended = (code: ExitCode): Dispatched => ({ code, endsProcess: false });

/** A store needs a driver that the library does not install. */
function missingPackage(error: unknown): string | undefined {
  const isMissing =
    error instanceof Error && "code" in error && error.code === "ERR_MODULE_NOT_FOUND";
  const [, name] = (isMissing && /^Cannot find package '([^']+)'/.exec(error.message)) || [];
  return name && `This command needs the package ${name}. Run: npm install ${name}`;
}

function isHelp(word: string): boolean {
  return word === "--help" || word === "-h";
}
