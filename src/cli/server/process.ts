// A server process that this command starts. It ends when the command ends, even if that is killed. The server uses its
// standard input and output, or listens and prints its URL.

import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import process from "node:process";
import type { Readable } from "node:stream";
import { ReadBuffer, serializeMessage } from "@modelcontextprotocol/client";
import type { JSONRPCMessage, Transport } from "@modelcontextprotocol/client";
import { isObject } from "../../util/objects.ts";
import type { Members } from "../../util/objects.ts";
import { plainLine } from "../screen/plain.ts";

/** A program, its arguments, and where it runs. */
export interface ServerCommand {
  readonly command: string;
  readonly args: readonly string[];
  /** All of its environment. It inherits nothing else. */
  readonly env: Readonly<Record<string, string>>;
  readonly cwd?: string | undefined;
}

/** Receives each line that a server prints, and the fields at its end if it is a line of Parley's log. */
export type LineListener = (line: string, fields: Members) => void;

/** Loaded into a Node process: it exits when its fourth pipe is closed, which happens even if this process is killed. */
const leash =
  "data:text/javascript," +
  encodeURIComponent(
    `import { Socket } from "node:net";
     const end = () => process.exit(1);
     new Socket({ fd: 3 }).on("end", end).on("error", end).resume().unref();`,
  );

const running = new Set<ServerProcess>();
process.on("exit", () => {
  for (const server of running) server.kill("SIGKILL");
});

const patienceMs = 3_000;
const mostLines = 40;

/** A server process, from its start to its end. */
export class ServerProcess {
  /** Its standard input and output, for the client. */
  readonly transport: Transport;
  /** The URL that it prints when it listens. */
  readonly listening: Promise<string>;
  /** How it ended, as the rest of a sentence. */
  readonly ended: Promise<string>;
  readonly #child: ChildProcess;
  readonly #lines: string[] = [];
  readonly #onLine: LineListener;
  readonly #leashed: boolean;

  constructor({ command, args, env, cwd }: ServerCommand, onLine: LineListener) {
    this.#onLine = onLine;
    this.#leashed = command === process.execPath;
    const child = spawn(command, this.#leashed ? ["--import", leash, ...args] : [...args], {
      cwd,
      env,
      stdio: ["pipe", "pipe", "pipe", "pipe"],
      // A process group of its own: its children end with it, and Ctrl-C reaches only this process.
      detached: process.platform !== "win32",
    });
    this.#child = child;
    running.add(this);
    this.ended = new Promise((resolve) => {
      child.once("error", ({ message }) => resolve(`cannot be started: ${message}`));
      child.once("close", (code, signal) => resolve(endOf(code, signal)));
    });
    void this.ended.then(() => running.delete(this));
    this.transport = new Pipes(child);
    this.listening = this.#listen(child.stdout, child.stderr);
  }

  /** The last lines that it printed. */
  get log(): readonly string[] {
    return this.#lines;
  }

  /** Asks it to stop, and kills it if it does not. */
  async end(): Promise<void> {
    this.#child.stdin?.end();
    if (!(await this.#endsWithin(this.#leashed ? 300 : patienceMs))) this.kill("SIGTERM");
    if (!(await this.#endsWithin(patienceMs))) this.kill("SIGKILL");
    await this.ended;
  }

  kill(signal: NodeJS.Signals): void {
    const { pid } = this.#child;
    if (pid === undefined) return;
    try {
      process.kill(process.platform === "win32" ? pid : -pid, signal);
    } catch {
      // It has already exited.
    }
  }

  async #endsWithin(ms: number): Promise<boolean> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<false>((resolve) => {
      timer = setTimeout(() => resolve(false), ms);
    });
    try {
      return await Promise.race([this.ended.then(() => true), late]);
    } finally {
      clearTimeout(timer);
    }
  }

  #listen(...streams: readonly (Readable | null)[]): Promise<string> {
    return new Promise((resolve) => {
      for (const stream of streams) {
        if (stream === null) continue;
        onLines(stream, (line) => {
          // Messages of the protocol are not log lines.
          if (stream === this.#child.stdout && line.startsWith("{")) return;
          const [, url] = /\blisten\w* (?:on|at):? (https?:\/\/[^\s"']+)/i.exec(line) ?? [];
          // The text may contain control characters. `href` contains none.
          if (url !== undefined && URL.canParse(url)) resolve(new URL(url).href);
          this.#keep(plainLine(line, 500), fieldsIn(line));
        });
      }
    });
  }

  #keep(line: string, fields: Members): void {
    this.#lines.push(line);
    if (this.#lines.length > mostLines) this.#lines.shift();
    this.#onLine(line, fields);
  }
}

function fieldsIn(line: string): Members {
  const [, json] = / (\{"[^]*\})$/.exec(line) ?? [];
  try {
    const fields: unknown = json === undefined ? undefined : JSON.parse(json);
    return isObject(fields) ? fields : {};
  } catch {
    return {};
  }
}

function endOf(code: number | null, signal: string | null): string {
  if (signal !== null) return `was killed by ${signal}`;
  return code === 0
    ? "exited without serving. Pass the file that calls app.listen() or app.stdio()"
    : `exited with code ${code}`;
}

/** A transport over the standard input and output of a process that is started and stopped elsewhere. */
class Pipes implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  readonly #child: ChildProcess;
  readonly #buffer = new ReadBuffer({ maxBufferSize: 16 * 1_024 * 1_024 });
  #isClosed = false;

  constructor(child: ChildProcess) {
    this.#child = child;
  }

  readonly start = async (): Promise<void> => {
    const { stdin, stdout } = this.#child;
    stdin?.on("error", (error) => this.onerror?.(error));
    stdout?.on("data", this.#read);
    this.#child.once("close", () => void this.close());
    this.#child.once("error", () => void this.close());
  };

  readonly send = (message: JSONRPCMessage): Promise<void> =>
    new Promise((resolve, reject) => {
      if (this.#isClosed) return reject(new Error("The server has exited."));
      this.#child.stdin?.write(serializeMessage(message), () => resolve());
    });

  readonly close = async (): Promise<void> => {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#child.stdout?.off("data", this.#read);
    this.onclose?.();
  };

  readonly #read = (chunk: Buffer): void => {
    try {
      this.#buffer.append(chunk);
    } catch (error) {
      this.onerror?.(error instanceof Error ? error : new Error(String(error)));
      return void this.close();
    }
    for (;;) {
      try {
        const message = this.#buffer.readMessage();
        if (message === null) return;
        this.onmessage?.(message);
      } catch {
        // The line is not a message. A server should not print here, but some do.
      }
    }
  };
}

const mostLetters = 10_000;

/** Calls back for each line of a stream. Only the beginning of a very long line is kept, to bound the memory. */
function onLines(stream: Readable, onLine: (line: string) => void): void {
  let line = "";
  const add = (part: string) => {
    if (line.length < mostLetters) line += part.slice(0, mostLetters - line.length);
  };
  const end = () => {
    onLine(line.replace(/\r$/, ""));
    line = "";
  };
  const decoder = new TextDecoder();
  stream.on("data", (chunk: Buffer) => {
    const [first = "", ...others] = decoder.decode(chunk, { stream: true }).split("\n");
    add(first);
    for (const part of others) {
      end();
      add(part);
    }
  });
  stream.once("end", () => {
    if (line !== "") end();
  });
}
