// `parley demo`: the library's promise, played on this machine.

import { loadDriver } from "../../tasks/stores/sqlite/driver.ts";
import type { Command } from "../command.ts";
import { playDemo } from "../demo/play.ts";
import { parsed } from "../args/parsed.ts";

export const demo: Command = {
  help: `parley demo [--auto]

A VM is ordered from two servers that share a key and a SQLite file. You are
asked for your yes and for a network; in between, the server that is creating
the VM is killed with kill -9, and the other one goes on. At the end it says in
six lines what happened, and exits with 0 only if all is as it should be.

It uses this machine alone: no account, no browser, no network. Nothing is left
behind, also after Ctrl-C.

  --auto   a script answers; so it does where there is no terminal

  npx mcp-parley demo
  npx mcp-parley demo --auto && echo it holds
`,
  run: async (args, io) => {
    const { values } = parsed("demo", args, { auto: { type: "boolean" } });
    // Before anything starts: on Node 20 the package may be missing.
    await loadDriver();
    const isAuto = values.auto === true || !io.isInteractive;
    const isAsked = values.auto === true;
    const opening =
      "Two replicas are started. One of them will be killed.\n" +
      (isAuto && !isAsked ? "There is no terminal: a script answers (--auto).\n" : "");
    return playDemo({ isAuto, io, opening: `${opening}\n` });
  },
};
