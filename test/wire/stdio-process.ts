// A server in its own process, which a test talks to line by line.

import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";
import { program } from "../programs.ts";

export interface StdioProcess {
  readonly send: (message: object) => void;
  /** The next line of standard output, parsed. A line that is not JSON fails the test. */
  readonly next: () => Promise<Line>;
  /** Waits for a line like this on standard error. */
  readonly says: (line: RegExp) => Promise<void>;
  /** Disconnects, like a client that has finished or died. */
  readonly hangUp: () => void;
  readonly exit: Promise<number | null>;
}

interface Line {
  readonly id?: unknown;
  readonly method?: string;
  readonly params?: Readonly<Record<string, unknown>>;
  readonly result?: Readonly<Record<string, unknown>>;
  readonly error?: { readonly code: number; readonly message: string };
}

const repository = fileURLToPath(new URL("../..", import.meta.url));

/** Starts the process. It ends with its test, and with the process of the tests, because its input ends then. */
export function started(
  file: URL,
  { cwd = repository, env = {} }: { readonly cwd?: string; readonly env?: NodeJS.ProcessEnv } = {},
): StdioProcess {
  const child = spawn(process.execPath, [...program(file)], {
    cwd,
    env: { ...process.env, ...env },
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  const out = linesOf(child.stdout);
  const errors = linesOf(child.stderr);
  return {
    send: (message) =>
      void child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`),
    next: async () => {
      const line: Line = JSON.parse(await out.next());
      return line;
    },
    says: async (line) => {
      while (!line.test(await errors.next())) continue;
    },
    hangUp: () => child.stdin.end(),
    exit: new Promise((resolve) => {
      child.once("exit", resolve);
    }),
  };
}

function linesOf(stream: Readable): { readonly next: () => Promise<string> } {
  const lines = createInterface({ input: stream })[Symbol.asyncIterator]();
  return {
    next: async () => {
      const { done, value } = await lines.next();
      if (done === true) throw new Error("the process has said its last line");
      return value;
    },
  };
}
