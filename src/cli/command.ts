// The shape of a subcommand, the input and output it may use, and the exit codes.

import process from "node:process";

/** Everything a command may read and write, so that a test can replace it. */
export interface Io {
  /** Writes a result, for a person or a pipe, to standard output. */
  readonly out: (text: string) => void;
  /** Writes progress, hints and errors to standard error. Never a result. */
  readonly err: (text: string) => void;
  /** Whether a person can be asked: standard input and standard error are a terminal. */
  readonly isInteractive: boolean;
  /** The environment variables. */
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** A subcommand, such as `parley call`. */
export interface Command {
  /** The text of `--help`. */
  readonly help: string;
  /** Ends the process when it is done. It runs a person's file, whose timers and connections would keep it alive. */
  readonly endsProcess?: boolean;
  /** Runs it with the words after its name. No exit code means `done`. */
  readonly run: (args: readonly string[], io: Io) => ExitCode | void | Promise<ExitCode | void>;
}

/** The exit codes. Scripts rely on them, and `--help` lists them. */
export const exit = {
  done: 0,
  failed: 1,
  usage: 2,
  keysNeeded: 3,
  inputNeeded: 6,
  timeout: 7,
  interrupted: 130,
} as const;
/** One of the exit codes. */
export type ExitCode = (typeof exit)[keyof typeof exit];

/** The command line is wrong: exit code 2, with a pointer to `--help`. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

/** The input and output of this process. */
export const terminal: Io = {
  out: (text) => void process.stdout.write(text),
  err: (text) => void process.stderr.write(text),
  isInteractive: process.stdin.isTTY && process.stderr.isTTY,
  env: process.env,
};
