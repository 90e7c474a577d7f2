// Whether anyone will run a task that was put back in the queue. A store knows which workers are alive, and not their tools.

import { expectsRunner } from "../../tasks/runner-note.ts";
import type { TaskStore } from "../../tasks/store.ts";
import { counted } from "../screen/amounts.ts";
import { plainLine } from "../screen/plain.ts";

/** A worker shows itself every third of a lease. */
export const silenceMs = 60_000;
const mostNamed = 3;

/** What to tell a person who has requeued orphaned tasks of these tools: that alone brings no worker that takes them up. */
export async function whyItStaysDue(
  store: Pick<TaskStore, "workers">,
  tools: readonly string[],
): Promise<string | undefined> {
  const [first] = tools;
  if (first === undefined) return undefined;
  const seen = await store.workers();
  const alive = seen.workers.filter(({ seenAt }) => seen.now - seenAt <= silenceMs).length;
  if (alive === 0 && !expectsRunner(seen)) return "No worker runs, so it stays due until one does.";
  const named = tools.slice(0, mostNamed).map((tool) => plainLine(tool, 30));
  const rest = tools.length > mostNamed ? ` and ${tools.length - mostNamed} more` : "";
  const which = `${tools.length === 1 ? "the tool" : "the tools"} ${named.join(", ")}${rest}`;
  const running =
    alive === 0
      ? "No worker had"
      : `${counted(alive, "worker")} ${alive === 1 ? "runs" : "run"}, and none had`;
  return `${running} taken it up. If no worker has ${which}, it stays due.`;
}
