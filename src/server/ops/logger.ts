// The server's log, for its operator. Tokens, answers and keys are never logged.

import { escapeControls, escapeLines } from "./escaped.ts";

/** Where the server writes its log. Pass your own to `parley({ logger })`; `console` fits, and "json" is built in. */
export interface Logger {
  /** Details for finding a fault. The default logger drops them. */
  readonly debug: LogLine;
  /** Normal events, such as the address a server listens on. */
  readonly info: LogLine;
  /** Something that may need attention. */
  readonly warn: LogLine;
  /** Something that failed. */
  readonly error: LogLine;
}

/** Writes one line of the log: a message, and fields for machines. */
export type LogLine = (message: string, fields?: Record<string, unknown>) => void;

/** The default logger. A message is one line, or has its further lines indented. It goes to standard error, because over stdio the standard output belongs to the protocol. */
export const stderrLogger: Logger = {
  debug: () => {},
  info: (message, fields) => write("info", message, fields),
  warn: (message, fields) => write("warn", message, fields),
  error: (message, fields) => write("error", message, fields),
};

function write(level: string, message: string, fields?: Record<string, unknown>): void {
  const rest = fields === undefined ? "" : ` ${escapeControls(jsonOf(fields))}`;
  writeLine(`parley ${level}: ${escapeLines(message)}${rest}`);
}

/** Workers have no standard error. What they log goes through the console. */
function writeLine(line: string): void {
  const { stderr }: { readonly stderr?: NodeJS.WriteStream } = process;
  // oxlint-disable-next-line no-console -- a Worker has nothing else
  if (stderr === undefined) console.error(line);
  else stderr.write(`${line}\n`);
}

/**
 * The logger of `logger: "json"`: one object per line, on standard error. Its own members come first, so that a field
 * of the same name cannot replace them.
 */
export const jsonLogger: Logger = {
  debug: () => {},
  info: (message, fields) => writeObject("info", message, fields),
  warn: (message, fields) => writeObject("warn", message, fields),
  error: (message, fields) => writeObject("error", message, fields),
};

function writeObject(level: string, message: string, fields: Record<string, unknown> = {}): void {
  const { call, task } = fields;
  const own = { at: new Date().toISOString(), level, message, call, task };
  let line: string;
  try {
    line = JSON.stringify({ ...own, ...fields, ...own });
  } catch {
    line = JSON.stringify({ ...own, call: text(call), task: text(task), fields: notJson });
  }
  // JSON escapes line feeds already. In a string, the rest may be written as escapes too.
  writeLine(escapeControls(line));
}

const notJson = "The fields are not JSON.";
const text = (id: unknown) => (typeof id === "string" ? id : undefined);

/** The logger for what was passed to `parley({ logger })`. */
export function loggerFor(given: Logger | "json" | undefined): Logger {
  if (given === undefined) return stderrLogger;
  if (given === "json") return jsonLogger;
  if (typeof given === "string") {
    throw new TypeError(
      `logger: ${JSON.stringify(given)} is not known. Pass "json", or an object with debug, info, warn and error.`,
    );
  }
  return safeLogger(given);
}

function jsonOf(fields: Record<string, unknown>): string {
  try {
    return JSON.stringify(fields);
  } catch {
    // A failure to log must not fail the operation.
    return JSON.stringify(notJson);
  }
}

/** The author's logger with the same messages, because it may be `console`, which escapes nothing. */
function safeLogger(logger: Logger): Logger {
  return {
    debug: (message, fields) => logger.debug(escapeLines(message), fields),
    info: (message, fields) => logger.info(escapeLines(message), fields),
    warn: (message, fields) => logger.warn(escapeLines(message), fields),
    error: (message, fields) => logger.error(escapeLines(message), fields),
  };
}
