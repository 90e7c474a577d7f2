// Whether anyone goes on with a task that has just got its answer. The answer is kept either way.

import type { StoreView } from "./store-view.ts";
import { isToolGone } from "./task-rows.ts";
import { silenceMsOf } from "./why.ts";

/** Why the task may not go on for now, in a sentence or two. Undefined if nothing is known against it. */
export async function obstacleFor(
  view: StoreView,
  { tool }: { readonly tool: string },
): Promise<string | undefined> {
  try {
    const { now, workers } = await view.store.workers();
    const silenceMs = silenceMsOf(view.store);
    if (!workers.some(({ seenAt }) => now - seenAt <= silenceMs)) {
      return "No worker runs on this store. The task goes on when one does.";
    }
  } catch {
    // The answer is in, and that is what matters.
  }
  return isToolGone(view, tool)
    ? `This version of the server does not have the tool "${tool}". The task goes on when a worker has it.`
    : undefined;
}
