// `parley demo`: a call that survives a crash, played on this machine.

import { loadDriver } from "../../tasks/stores/sqlite/driver.ts";
import type { Command } from "../command.ts";
import { playDemo } from "../demo/play.ts";
import { parseOptions } from "../args/command-line.ts";

/** `parley demo` */
export const demo: Command = {
  help: `Shows a tool call that survives kill -9, on this machine.

Usage
  parley demo [--auto]

Two server processes share a key and a SQLite file. You order a virtual machine
from them and answer two questions. In between, the process that is creating the
machine is killed with kill -9, and the other one finishes its work. Then a
client that cannot be asked calls the same tool, and a page of the server asks
in its place. At the end, seven lines say what happened and whether it is
correct.

The demo needs no account, no browser and no network, and leaves nothing behind,
even after Ctrl-C.

Options
  --auto   a script answers the questions (default without a terminal)

Examples
  npx mcp-parley demo
  npx mcp-parley demo --auto && echo "all is well"

Exit codes
  0 all seven lines are correct, 1 one is not, or you declined, 130 interrupted
`,
  run: async (args, io) => {
    const { values } = parseOptions("demo", args, { auto: { type: "boolean" } });
    // Fail before anything starts: on Node 20, SQLite needs a package.
    await loadDriver();
    const isAuto = values.auto === true || !io.isInteractive;
    const isAsked = values.auto === true;
    const opening = [
      "Two copies of a server start: replica 1 and replica 2. You order a virtual",
      "machine (VM) from them, and the replica that creates it is killed.",
      ...(isAuto && !isAsked
        ? ["Without a terminal, a script answers the questions (--auto)."]
        : []),
    ];
    return playDemo({ isAuto, io, opening: `${opening.join("\n")}\n\n` });
  },
};
