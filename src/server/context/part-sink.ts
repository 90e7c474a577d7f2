// Where the parts of streamed steps go while a call runs: to the client of a round, or to the readers of a task.

import type { PartContent } from "../../protocol/streaming.ts";

/** Takes the parts of one run. It never throws, and it ignores what comes after the end of the run. */
export interface PartSink {
  /** Sends one part. A promise means: wait for it before you make more. It never rejects. */
  readonly send: (part: PartContent) => Promise<void> | undefined;
}
