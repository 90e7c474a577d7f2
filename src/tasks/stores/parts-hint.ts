// The hint that only the parts of running streams have changed, or that one of the streams is recorded.

import type { ChangeHint } from "../store.ts";

/** The hint about the parts of a task. */
export const partsHint = (id: string): ChangeHint => ({
  id,
  isDue: false,
  isNews: false,
  isParts: true,
});
