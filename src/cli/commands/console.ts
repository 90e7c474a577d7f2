// `parley console`: shows the tasks of a store in a browser, to the person who runs the command.

import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { userInfo } from "node:os";
import process from "node:process";
import { ownConsole } from "../../console/operator-console.ts";
import { mountOf } from "../../server/http/web-handler.ts";
import { parley } from "../../server/parley.ts";
import type { TaskStore } from "../../tasks/store.ts";
import { parseOptions } from "../args/command-line.ts";
import { exit, UsageError } from "../command.ts";
import type { Command, Io } from "../command.ts";
import { availableKeys, keyringOf } from "../doctor/available-keys.ts";
import type { AvailableKeys } from "../doctor/available-keys.ts";
import { leavesNoRecord } from "../audit/record-cancellation.ts";
import { keysForStore } from "../doctor/store-keys.ts";
import { withStore } from "../tasks/store-tasks.ts";

/** `parley console` */
export const console: Command = {
  help: `Shows the tasks of a store in your browser, and lets you answer them.

Usage
  parley console <postgres://… | file.db> [options]

The console shows what waits for people, which tasks are stuck and why, and
every run of a task. The command prints a link that works once and opens it for
you alone. It listens on this machine only, and runs no tasks.

With the keys of the server, the console shows arguments, answers and results,
and you can answer. The keys come from PARLEY_KEYS, --keys-file, or .parley/keys
of the development server. Keys that open nothing in the store are not used.
Without keys it shows status, tool, times and runs, and you can cancel. What you
do is noted in the audit under your name: --principal, or your user name. A
cancellation without the keys leaves no record, and parley audit --check then
names its call.

Options
  --name NAME       the name of the server, as in parley({ name }); what it
                    sealed opens only under its name (default: from the audit)
  --principal TEXT  who you are when you call: what parley({ principal }) gives
                    for your calls. You need it to decide about approvals,
                    because nobody decides about their own request
  --keys-file FILE  a file with the keys
  --schema NAME     Postgres: the schema of its tables (default: parley)
  --port N          the port to listen on (default: any that is free)

Examples
  npx mcp-parley console "$DATABASE_URL" --keys-file keys --principal bo
  npx mcp-parley console .parley/parley.db

Exit codes
  0 ended by SIGTERM, 1 failed, 2 usage error, 130 interrupted with Ctrl-C
`,
  run: async (args, io) => {
    const { values, positionals } = parseOptions("console", args, {
      name: { type: "string" },
      principal: { type: "string" },
      "keys-file": { type: "string" },
      schema: { type: "string" },
      port: { type: "string" },
    });
    const [target, ...rest] = positionals;
    if (target === undefined || rest.length > 0) throw new UsageError("console: pass one store");
    const port = Number(values.port ?? 0);
    if (!Number.isInteger(port) || port < 0 || port > 65_535) {
      throw new UsageError("console: --port takes a number from 0 to 65535");
    }
    const { principal } = values;
    if (principal === "") throw new UsageError("console: --principal takes a text");
    const keys = availableKeys({ "keys-file": values["keys-file"] }, io.env);
    if (keys !== undefined) keyringOf(keys);
    return withStore(target, values.schema, async (store) => {
      const name = values.name ?? (await nameIn(store));
      const fitting = await keysForStore(store, keys, values.name);
      const served = await serve({ store, name, port, principal, ...fitting }, io);
      const code = await signalled();
      await served.close();
      return code;
    });
  },
};

/** The name of the server whose audit the store keeps. */
async function nameIn({ audit }: TaskStore): Promise<string> {
  const [first] = (await audit?.readAfter(undefined, 1)) ?? [];
  return first?.app ?? "tasks";
}

const noKeys =
  "There are no keys, so the console shows status, tool, times and runs only. Set PARLEY_KEYS to the keys of the server, or pass --keys-file.";
const withoutKeys = "Without them, the console shows status, tool, times and runs only.";

/** What is served, and to whom. */
interface Served {
  readonly store: TaskStore;
  readonly name: string;
  readonly port: number;
  readonly keys?: (Pick<AvailableKeys, "text" | "warning"> & Partial<AvailableKeys>) | undefined;
  /** Why the keys that were found are not used. */
  readonly notice?: string | undefined;
  readonly principal?: string | undefined;
}

/** Serves the console of a store until it is closed. */
export async function serve(
  { store, name, port, keys, notice, principal }: Served,
  { out, err }: Pick<Io, "out" | "err">,
): Promise<{ readonly close: () => Promise<void> }> {
  const app = parley({
    name,
    version: "console",
    store,
    // An empty text is no key. Without it, the app would read PARLEY_KEYS, whose keys may be those that open nothing.
    keys: keys?.text ?? "",
    logger: {
      debug: nothing,
      info: (message) => {
        const [, link] = /^console: (\S+)$/.exec(message) ?? [];
        if (link !== undefined) out(`${link}\n`);
      },
      warn: (message, fields) => {
        // Of what the app warns of, only what has become of a task is for the operator.
        if (fields?.["task"] !== undefined) err(`${message}\n`);
      },
      error: (message, fields) => {
        // This app serves no calls, so it can do without keys. What that means here is said below.
        if (fields?.["code"] !== "no_keys") err(`${message}\n`);
      },
    },
  });
  const handler = ownConsole(app, { who: principal ?? userInfo().username, principal });
  const server = createServer((req, res) => {
    handler.node(req, res).catch(() => res.destroy());
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject).listen(port, "127.0.0.1", resolve);
  });
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it listens on a port
  const { port: used } = server.address() as AddressInfo;
  if (keys === undefined) {
    err(`${notice === undefined ? noKeys : `${notice}\n${withoutKeys}`}\n${leavesNoRecord}\n`);
  } else {
    if (keys.from !== undefined) err(`The keys come from ${keys.from}.\n`);
    if (keys.warning !== undefined) err(`${keys.warning}\n`);
  }
  err(`Open this link, once. Ctrl-C ends the console of "${name}".\n`);
  mountOf(handler)?.isAt(`http://127.0.0.1:${used}/`);
  return {
    close: async () => {
      await app.close();
      server.closeAllConnections();
      await new Promise((resolve) => {
        server.close(resolve);
      });
    },
  };
}

const nothing = () => {};

function signalled(): Promise<typeof exit.done | typeof exit.interrupted> {
  return new Promise((resolve) => {
    process.once("SIGTERM", () => resolve(exit.done));
    process.once("SIGINT", () => resolve(exit.interrupted));
  });
}
