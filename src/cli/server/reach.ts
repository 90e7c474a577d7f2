// From a place to a connection. A server that is not running is started, and asked both ways at once: the first that
// answers, its standard output or the address that it says it listens on, is the one.

import { basename } from "node:path";
import { CallError, connect } from "../../client/index.ts";
import type { Connection, ConnectOptions } from "../../client/index.ts";
import { nameOf, runnable } from "./place.ts";
import type { Place } from "./place.ts";
import { ServerProcess } from "./process.ts";

export interface Reached {
  readonly connection: Connection;
  /** Also ends the server, where it was started here. */
  readonly close: () => Promise<void>;
}

export interface ReachOptions extends ConnectOptions {
  /** What a server that was started here prints, line by line. */
  readonly onLog?: ((line: string) => void) | undefined;
}

/** For a server to say that it is there. TypeScript takes its time on a busy machine. */
const startMs = 30_000;

export async function reach(place: Place, options: ReachOptions): Promise<Reached> {
  if (place.kind === "url") {
    const connection = await connect(place.url, options);
    return { connection, close: connection.close };
  }
  try {
    return await started(place, options);
  } catch (error) {
    // There are servers of 2025-11-25 that end at the first request that they do not know.
    const mayBeOld = error instanceof NotThere && place.kind === "command";
    if (!mayBeOld || options.era !== undefined) throw error;
    return started(place, { ...options, era: "2025-11-25" }).catch(() => {
      throw error;
    });
  }
}

/** It was started, and cannot be talked to. */
class NotThere extends CallError {
  constructor(message: string) {
    super("server_down", message);
  }
}

async function started(
  place: Exclude<Place, { kind: "url" }>,
  options: ReachOptions,
): Promise<Reached> {
  const server = new ServerProcess(runnable(place), options.onLog ?? (() => {}));
  const name = place.kind === "file" ? basename(place.file) : nameOf(place);
  const gone = server.ended.then((how): never => {
    throw notThere(name, how, server);
  });
  gone.catch(() => {});
  // One that fails because the server has ended says less than the server's own last words.
  const overPipes = connect(server.transport, options).catch((error: unknown) => {
    if (error instanceof CallError && error.code === "server_down") return gone;
    throw error;
  });
  overPipes.catch(() => {});
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(notThere(name, neither, server)), startMs);
  });
  try {
    const first = await Promise.race([overPipes, server.listening, gone, late]);
    const isListening = typeof first === "string";
    const connection = isListening ? await connect({ fetch: to(first) }, options) : first;
    if (isListening) await server.transport.close();
    const close = async () => {
      await connection.close();
      await server.end();
    };
    return { connection, close };
  } catch (error) {
    await server.end();
    throw error;
  } finally {
    clearTimeout(timer);
  }
}

const neither = `has neither answered over standard input and output nor said where it listens, for ${startMs / 1_000} s`;

function notThere(name: string, how: string, { log }: ServerProcess): NotThere {
  const lines = log.map((line) => `  ${line}\n`).join("");
  const printed = lines === "" ? "" : ` It printed:\n${lines}`;
  return new NotThere(`${name} ${how}.${printed}${adviceOn(lines)}`.trimEnd());
}

function adviceOn(printed: string): string {
  const [, port] = /Port (\d+) is taken/.exec(printed) ?? [];
  if (port !== undefined)
    return `If it is running already, call http://127.0.0.1:${port}/mcp instead.`;
  if (/Top-level await .* "cjs"|Cannot use import statement outside a module/.test(printed))
    return "Say that it is a module: npm pkg set type=module.";
  return "";
}

/** Its address may be another one tomorrow: with this, it is known by its name. */
const to = (url: string) => (request: Request) => fetch(new Request(url, request));
