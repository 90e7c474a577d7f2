// Answers that a call brings along from its rounds when it becomes a task, and that its handler has not asked for yet.

import type { InboxEvent } from "../../replay/inbox.ts";
import { sealAnswer } from "../sealing.ts";
import type { Sealer } from "../sealing.ts";
import type { Arrival } from "../task.ts";
import { madeUp } from "./waits.ts";

/** The answers as arrivals of the task. */
export function roundAnswers(
  sealer: Sealer,
  callId: string,
  unused: readonly InboxEvent[],
): Arrival[] {
  return unused.flatMap((event, index): Arrival[] => {
    if (event.kind !== "answer" || event.digest === undefined) return [];
    const { key, digest, value } = event;
    const sealed = sealAnswer(sealer, callId, value, { key, digest }, event);
    return [{ id: madeUp(`round-${index}`), key, digest, value: sealed, at: 0 }];
  });
}
