// `parley worker`: runs the tasks of an app, and serves nothing.

import { basename, resolve } from "node:path";
import process from "node:process";
import { pathToFileURL } from "node:url";
import type { App } from "../../server/app.ts";
import { exit, Usage } from "../command.ts";
import type { Command, ExitCode } from "../command.ts";
import { parsed } from "../args/parsed.ts";
import { commandFor } from "../server/file.ts";

export const worker: Command = {
  help: `parley worker <file> [--concurrency <n>]

Runs the tasks of the app that the file exports, and serves nothing: for servers
behind app.fetch, app.node or app.attach, which run none, or for more hands.
Start as many as you like, on any machine that reaches the store.

The file exports its app, has a store, and does not listen:

  export const app = parley({ name: "shop", version: "1.0.0",
                              store: postgresStore(process.env.DATABASE_URL) });

SIGTERM and Ctrl-C end it: what it runs is handed over to others at once.

  --concurrency <n>   tasks at once (default: 16)

  PARLEY_KEYS=… npx mcp-parley worker app.ts
  npx mcp-parley worker dist/app.js --concurrency 4
`,
  run: async (args, io) => {
    const { values, positionals } = parsed("worker", args, { concurrency: { type: "string" } });
    const [file, ...rest] = positionals;
    if (file === undefined || rest.length > 0) throw new Usage("worker: name one file");
    const concurrency = values.concurrency === undefined ? 16 : Number(values.concurrency);
    if (!Number.isInteger(concurrency) || concurrency < 1) {
      throw new Usage(`worker: --concurrency takes a whole number from 1`);
    }
    const app = await appIn(file);
    const ended = signalled();
    const work = await app.work({ concurrency });
    io.err(
      `Running the tasks of ${basename(file)}, ${concurrency} at once. SIGTERM hands them over.\n`,
    );
    const code = await ended;
    await work.close();
    io.err("Handed over.\n");
    return code;
  },
};

async function appIn(file: string): Promise<App> {
  const { args } = commandFor(file);
  // As `node --import tsx` would.
  const [flag, loader] = args;
  if (flag === "--import" && loader !== undefined) await import(loader);
  const module: unknown = await import(pathToFileURL(resolve(file)).href).catch(
    (error: unknown) => {
      throw error instanceof Error && /^Port \d+ is taken/.test(error.message)
        ? listens(file)
        : error;
    },
  );
  const found = Object.values(Object(module)).find(isApp);
  if (found === undefined) {
    throw new Usage(`${file} exports no app. Write there: export const app = parley({ … });`);
  }
  if (process.getActiveResourcesInfo().includes("TCPServerWrap")) {
    await found.close();
    throw listens(file);
  }
  return found;
}

function isApp(value: unknown): value is App {
  return typeof value === "object" && value !== null && "work" in value && "health" in value;
}

const listens = (file: string) =>
  new Usage(
    `${file} listens, and then it runs tasks by itself: start it with node. For a worker, put the app in a file of its own and name that.`,
  );

/** Being told to end is how a worker ends; Ctrl-C is somebody who interrupts it. Told twice, it ends at once. */
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
