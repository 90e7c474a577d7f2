// Where the server tells its operator something. Tokens, answers and keys never go there.

export interface Logger {
  readonly debug: LogLine;
  readonly info: LogLine;
  readonly warn: LogLine;
  readonly error: LogLine;
}

type LogLine = (message: string, fields?: Record<string, unknown>) => void;

/** On standard error: standard output belongs to the protocol. */
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
