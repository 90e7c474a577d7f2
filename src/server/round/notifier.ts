// What a handler sends to its client while it runs: progress, if the client sent a token, and log messages.

import type { LoggingLevel } from "@modelcontextprotocol/server";
import type { RoundRequest } from "./request.ts";

/** The largest progress sent so far. The specification requires every progress to be larger than the one before. */
export interface LastProgress {
  value: number;
}

/** The state before any progress was sent. */
export const noProgress = (): LastProgress => ({ value: Number.NEGATIVE_INFINITY });

interface ProgressParams {
  progressToken: string | number;
  progress: number;
  total?: number;
  message?: string;
}

/** The notifier of one round. Without a token it sends no progress. All rounds of one request share `last`. */
export function notifier(
  progressToken: string | number | undefined,
  last: LastProgress,
  send: (params: ProgressParams) => void,
  log: (level: LoggingLevel, data: unknown) => void,
): NonNullable<RoundRequest["notify"]> {
  return {
    progress: (progress, total, message) => {
      if (progressToken === undefined || !(progress > last.value)) return;
      last.value = progress;
      send({
        progressToken,
        progress,
        ...(total === undefined ? {} : { total }),
        ...(message === undefined ? {} : { message }),
      });
    },
    log,
  };
}
