// What a command is, and what it may touch.

import process from "node:process";

/** The only way a command meets the world, so that a test can stand in its place. */
export interface Io {
  /** Results, for a person or a pipe. */
  readonly out: (text: string) => void;
  /** Talk: progress, hints, complaints. Never a result. */
  readonly err: (text: string) => void;
  /** Somebody sits there: both ends of the talk are a terminal. */
  readonly isInteractive: boolean;
  readonly env: Readonly<Record<string, string | undefined>>;
}

export interface Command {
  readonly help: string;
  readonly run: (args: readonly string[], io: Io) => ExitCode | void | Promise<ExitCode | void>;
}

/** The contract with scripts; documented in `--help`. */
export const exit = {
  done: 0,
  failed: 1,
  usage: 2,
  inputNeeded: 6,
  timeout: 7,
  interrupted: 130,
} as const;
export type ExitCode = (typeof exit)[keyof typeof exit];

/** It was called wrongly: exit code 2, and where to read how. */
export class Usage extends Error {
  override readonly name = "Usage";
}

export const terminal: Io = {
  out: (text) => void process.stdout.write(text),
  err: (text) => void process.stderr.write(text),
  isInteractive: process.stdin.isTTY && process.stderr.isTTY,
  env: process.env,
};
