// `notifications/tasks` through `subscriptions/listen`, where the server offers it. A hint and nothing more: who gets
// none, or only some, still polls.

import { isObject } from "./json.ts";
import { backOff, pause } from "./pace.ts";
import type { Wire } from "./wire.ts";

/** How often a stream that has ended is opened again. */
const mostTries = 5;

/** Never rejects. */
export async function listenTo(
  wire: Wire,
  taskId: string,
  hint: () => void,
  signal: AbortSignal,
): Promise<void> {
  const onNotification = (method: string) => {
    if (method === "notifications/tasks") hint();
  };
  const params = { notifications: { taskIds: [taskId] } };
  try {
    for (let tries = 0; tries < mostTries; tries += 1) {
      const reply = await wire
        .request("subscriptions/listen", params, { signal, onNotification })
        .catch(() => undefined);
      signal.throwIfAborted();
      // It was ended in order, or refused: there is nothing to wait for.
      if (isObject(reply)) return;
      await pause(backOff(1_000, 10_000, tries), signal);
    }
  } catch {
    // The task is over.
  }
}
