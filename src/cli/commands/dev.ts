// `parley dev`: a server file with reload.

import { once } from "node:events";
import { resolve } from "node:path";
import process from "node:process";
import { exit, Usage } from "../command.ts";
import type { Command } from "../command.ts";
import { Session } from "../dev/session.ts";
import { parsed } from "../args/parsed.ts";
import { commandFor } from "../server/file.ts";

export const dev: Command = {
  help: `parley dev <file> [--watch <file> …]

Runs a server file, and runs it anew when it, or a file it imports, is saved. It
says where the server listens and how to try it. A call between two rounds goes
on with the new version, because the key of development is kept in .parley/;
where an edit has changed what such a call was asked or has done, it says so.

A file that does not run is waited for. TypeScript runs through tsx where your
project has it, or by Node 22.18 and later.

  --watch <file>   one more file to look at, such as a template

  npx mcp-parley dev server.ts
  npx mcp-parley dev server.ts --watch prices.csv
`,
  run: async (args, io) => {
    const { values, positionals } = parsed("dev", args, {
      watch: { type: "string", multiple: true },
    });
    const [file, ...rest] = positionals;
    if (file === undefined || rest.length > 0) throw new Usage("dev: name one server file");
    // Said now, not in a loop.
    commandFor(file);
    const others = (values.watch ?? []).map((path) => resolve(path));
    const stop = new AbortController();
    const interrupt = () => stop.abort(exit.interrupted);
    for (const signal of signals) process.on(signal, interrupt);
    const fail = (error: unknown) => stop.abort(error);
    const session = new Session({ file, others, say: (line) => io.err(`${line}\n`), fail });
    try {
      session.start();
      await once(stop.signal, "abort");
      if (stop.signal.reason !== exit.interrupted) throw stop.signal.reason;
      return exit.interrupted;
    } finally {
      await session.end();
      for (const signal of signals) process.off(signal, interrupt);
    }
  },
};

const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
