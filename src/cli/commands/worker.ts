// `parley worker`: runs the tasks of an app, without serving requests.

import { basename, resolve } from "node:path";
import process from "node:process";
import { pathToFileURL } from "node:url";
import type { App } from "../../server/app.ts";
import { onlyWorks } from "../../server/ops/worker-only.ts";
import { exit, UsageError } from "../command.ts";
import type { Command, ExitCode } from "../command.ts";
import { parseOptions } from "../args/command-line.ts";
import { commandFor } from "../server/server-file.ts";

/** `parley worker` */
export const worker: Command = {
  help: `Runs the tasks of an app, without serving requests.

Usage
  parley worker <file> [--concurrency <n>]

Use it if your servers use app.fetch, app.node or app.attach, which run no
tasks, or to run more tasks at once. Start as many workers as you like, on any
machine that can reach the store.

The file exports the app, gives it a store, and does not serve requests:

  export const app = parley({ name: "shop", version: "1.0.0",
                              store: postgresStore(process.env.DATABASE_URL) });

SIGTERM or Ctrl-C stops the worker. Other workers take over its tasks at once.

Options
  --concurrency <n>   how many tasks run at the same time (default: 16)

Examples
  PARLEY_KEYS=… npx mcp-parley worker app.ts
  npx mcp-parley worker dist/app.js --concurrency 4

Exit codes
  0 stopped by SIGTERM, 1 failed, 2 usage error, 130 interrupted with Ctrl-C
`,
  endsProcess: true,
  run: async (args, io) => {
    const { values, positionals } = parseOptions("worker", args, {
      concurrency: { type: "string" },
    });
    const [file, ...rest] = positionals;
    if (file === undefined || rest.length > 0) throw new UsageError("worker: pass one file");
    const concurrency = values.concurrency === undefined ? 16 : Number(values.concurrency);
    if (!Number.isInteger(concurrency) || concurrency < 1) {
      throw new UsageError(`worker: --concurrency takes a whole number of at least 1`);
    }
    // Not an exception, because the file could catch it, or call app.listen() without waiting for it.
    onlyWorks(() => {
      io.err(`${serves(file)}\n`);
      process.exit(exit.usage);
    });
    const app = await appIn(file);
    const ended = signalled();
    const work = await app.work({ concurrency });
    io.err(
      `Running tasks of ${basename(file)}, up to ${concurrency} at once. Stop with SIGTERM or Ctrl-C.\n`,
    );
    const code = await ended;
    await work.close();
    io.err("Stopped. Other workers can take over the tasks.\n");
    return code;
  },
};

async function appIn(file: string): Promise<App> {
  const { args } = commandFor(file);
  // Loads tsx, as `node --import tsx` does.
  const [flag, loader] = args;
  if (flag === "--import" && loader !== undefined) await import(loader);
  const module: unknown = await import(pathToFileURL(resolve(file)).href);
  const found = Object.values(Object(module)).find(isApp);
  if (found === undefined) {
    throw new UsageError(
      `${file} does not export an app. Add to it: export const app = parley({ … });`,
    );
  }
  // A server of its own, such as express.
  if (process.getActiveResourcesInfo().includes("TCPServerWrap"))
    throw new UsageError(serves(file));
  return found;
}

function isApp(value: unknown): value is App {
  return typeof value === "object" && value !== null && "work" in value && "health" in value;
}

const serves = (file: string) =>
  `${file} serves requests, so it runs tasks by itself. Start it with node. For a worker, move the app to a file of its own and pass that file.`;

/** SIGTERM is the normal way to stop a worker, and Ctrl-C interrupts it. A second signal ends the process at once. */
function signalled(): Promise<ExitCode> {
  return new Promise((settle) => {
    let isTold = false;
    const end = (code: ExitCode) => {
      if (isTold) process.exit(code);
      isTold = true;
      settle(code);
    };
    process.on("SIGTERM", () => end(exit.done));
    process.on("SIGINT", () => end(exit.interrupted));
  });
}
