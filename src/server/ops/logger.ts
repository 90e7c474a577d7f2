// The server's log, for its operator. Tokens, answers and keys are never logged.

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

/** The default logger. It writes to standard error, because over stdio the standard output belongs to the protocol. */
export const stderrLogger: Logger = {
  debug: () => {},
  info: (message, fields) => write("info", message, fields),
  warn: (message, fields) => write("warn", message, fields),
  error: (message, fields) => write("error", message, fields),
};

function write(level: string, message: string, fields?: Record<string, unknown>): void {
  const rest = fields === undefined ? "" : ` ${JSON.stringify(fields)}`;
  process.stderr.write(`parley ${level}: ${message}${rest}\n`);
}
