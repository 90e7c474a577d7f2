// Connects to a target. A server file or a command is started first. It is then tried over standard input and output,
// and over the URL that it prints, both at once. The one that responds first is used.

import { basename } from "node:path";
import { CallError, connect } from "../../client/index.ts";
import type { Connection, ConnectOptions } from "../../client/index.ts";
import { nameOf, runnable } from "./target.ts";
import type { Target } from "./target.ts";
import { ServerProcess } from "./process.ts";
import { legacyVersion } from "../../protocol/versions.ts";

/** A connection, and how to end it. */
export interface ConnectedServer {
  readonly connection: Connection;
  /** Closes the connection. Also stops the server if it was started here. */
  readonly close: () => Promise<void>;
}

/** The options of the client, and a listener for the output of a server that is started here. */
export interface ServerOptions extends ConnectOptions {
  /** The environment of a server that is started here. */
  readonly env: Readonly<Record<string, string>>;
  /** Receives each line that a server prints if it was started here. */
  readonly onLog?: ((line: string) => void) | undefined;
}

/** How long a server may take to start. TypeScript is slow to load on a busy machine. */
const startMs = 30_000;

/** Connects to a server, and starts it first if the target is a file or a command. */
export async function connectTo(target: Target, options: ServerOptions): Promise<ConnectedServer> {
  if (target.kind === "url") {
    const connection = await connect(target.url, options);
    return { connection, close: connection.close };
  }
  try {
    return await started(target, options);
  } catch (error) {
    // Some 2025-11-25 servers exit at the first request that they do not know.
    const mayBeOld = error instanceof ServerUnavailable && target.kind === "command";
    if (!mayBeOld || options.era !== undefined) throw error;
    return started(target, { ...options, era: legacyVersion }).catch(() => {
      throw error;
    });
  }
}

/** The server was started, but does not respond. */
class ServerUnavailable extends CallError {
  constructor(message: string) {
    super("server_down", message);
  }
}

async function started(
  target: Exclude<Target, { kind: "url" }>,
  options: ServerOptions,
): Promise<ConnectedServer> {
  const server = new ServerProcess(
    { ...runnable(target), env: options.env },
    options.onLog ?? (() => {}),
  );
  const name = target.kind === "file" ? basename(target.file) : nameOf(target);
  const advice = target.kind === "command" ? fewVariables : "";
  const gone = server.ended.then((how): never => {
    throw unavailable(name, how, server, advice);
  });
  gone.catch(() => {});
  // If the connection failed because the server exited, what the server printed says more.
  const overPipes = connect(server.transport, options).catch((error: unknown) => {
    if (error instanceof CallError && error.code === "server_down") return gone;
    throw error;
  });
  overPipes.catch(() => {});
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(unavailable(name, neither, server, advice)), startMs);
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

const neither = `did not respond on standard input and output, and did not print the URL it listens on, within ${startMs / 1_000} s`;

/** A program that lacks a variable rarely says where it should come from. */
const fewVariables =
  "It was started without your environment variables. If it needs one, add --env NAME.";

function unavailable(
  name: string,
  how: string,
  { log }: ServerProcess,
  advice: string,
): ServerUnavailable {
  const lines = log.map((line) => `  ${line}\n`).join("");
  const printed = lines === "" ? "" : ` It printed:\n${lines}`;
  return new ServerUnavailable(
    `${name} ${how}.${printed === "" ? " " : printed}${adviceOn(lines) ?? advice}`.trimEnd(),
  );
}

function adviceOn(printed: string): string | undefined {
  // How Node names this error, whatever the server makes of it.
  const [, port] = /\bEADDRINUSE\b.*?:(\d+)\b/.exec(printed) ?? [];
  if (port !== undefined)
    return `If the server is already running, use http://127.0.0.1:${port}/mcp instead.`;
  if (/Top-level await .* "cjs"|Cannot use import statement outside a module/.test(printed))
    return "The file is an ES module, but its package is not. Run: npm pkg set type=module";
  return undefined;
}

/** The port can differ the next time, so a reference must not contain it. With a function, the client uses the name. */
const to = (url: string) => (request: Request) =>
  fetch(new Request(url, request), { signal: request.signal });
