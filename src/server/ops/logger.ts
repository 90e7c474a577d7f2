// The server's log, for its operator. Tokens, answers and keys are never logged.

import { escapeControls, escapeLines } from "./escaped.ts";

/** Where the server writes its log. Pass your own to `parley({ logger })`; `console` fits as it is. */
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
  process.stderr.write(`parley ${level}: ${escapeLines(message)}${rest}\n`);
}

function jsonOf(fields: Record<string, unknown>): string {
  try {
    return JSON.stringify(fields);
  } catch {
    // A line of the log must not fail what it is about.
    return '"The fields are not JSON."';
  }
}

/** The author's logger with the same messages, because it may be `console`, which escapes nothing. */
export function safeLogger(logger: Logger): Logger {
  return {
    debug: (message, fields) => logger.debug(escapeLines(message), fields),
    info: (message, fields) => logger.info(escapeLines(message), fields),
    warn: (message, fields) => logger.warn(escapeLines(message), fields),
    error: (message, fields) => logger.error(escapeLines(message), fields),
  };
}
