// The levels of a log message, as in the `level` of `notifications/message`.

/** From the least to the most severe. */
export const logLevels = [
  "debug",
  "info",
  "notice",
  "warning",
  "error",
  "critical",
  "alert",
  "emergency",
] as const;
