// `parley dev`: runs a server file with reload.

import { once } from "node:events";
import { resolve } from "node:path";
import process from "node:process";
import { exit, UsageError } from "../command.ts";
import type { Command } from "../command.ts";
import { Reloader } from "../dev/reload.ts";
import { parseOptions } from "../args/command-line.ts";
import { environmentOf } from "../server/child-environment.ts";
import { commandFor } from "../server/server-file.ts";
import { randomBytes } from "../../token/random.ts";

/** `parley dev` */
export const dev: Command = {
  help: `Runs a server file, and restarts it when you save a change.

Usage
  parley dev <file> [--watch <file> …] [--client chat|app]

The file and the files it imports by a relative path are watched. The command
prints the server's URL, how to call its tools, and a link to the console, which
shows its calls and tasks in your browser. The link works once. A call that
waits for an answer continues in the new version, because the development key is
kept in .parley/. If your edit changed what such a call asked or did, a message
says so.

If the file does not run, the command waits for the next change. TypeScript runs
through tsx if your project has it, or through Node 22.18 or later.

Options
  --watch <file>   another file to watch, such as a template; can be repeated
  --client chat    show how to call the tools as a host that cannot be asked
                   does: its model reads the results and relays the answers
  --client app     open a page that shows the tools as a host that renders MCP
                   Apps does: the form, and what the model reads

Examples
  npx mcp-parley dev server.ts
  npx mcp-parley dev server.ts --watch prices.csv
  npx mcp-parley dev server.ts --client app

Exit codes
  1 failed, 2 usage error, 130 interrupted with Ctrl-C
`,
  run: async (args, io) => {
    const { values, positionals } = parseOptions("dev", args, {
      watch: { type: "string", multiple: true },
      client: { type: "string" },
    });
    const [file, ...rest] = positionals;
    if (file === undefined || rest.length > 0) throw new UsageError("dev: pass one server file");
    const { client } = values;
    if (client !== undefined && client !== "chat" && client !== "app") {
      throw new UsageError(`dev: --client takes chat or app, not "${client}"`);
    }
    // A wrong file fails here once, instead of at every reload.
    commandFor(file);
    const others = (values.watch ?? []).map((path) => resolve(path));
    const stop = new AbortController();
    const interrupt = () => stop.abort(exit.interrupted);
    for (const signal of signals) process.on(signal, interrupt);
    const fail = (error: unknown) => stop.abort(error);
    const env = {
      NODE_ENV: "development",
      // One session for as long as this command runs, so that the page outlives a reload.
      PARLEY_DEV_CONSOLE: randomBytes(16).toString("hex"),
      ...environmentOf({ kind: "file" }, [], io.env),
    };
    const reloader = new Reloader({
      file,
      others,
      client,
      env,
      say: (line) => io.err(`${line}\n`),
      fail,
    });
    try {
      reloader.start();
      await once(stop.signal, "abort");
      if (stop.signal.reason !== exit.interrupted) throw stop.signal.reason;
      return exit.interrupted;
    } finally {
      await reloader.end();
      for (const signal of signals) process.off(signal, interrupt);
    }
  },
};

const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
