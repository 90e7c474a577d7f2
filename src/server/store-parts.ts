// The parts of an app that need a store: tasks, pages, paused calls, `once`, approvals by a group. On Node, Bun and Deno every
// app has them. In a Worker, what makes the store brings them along, so that a Worker without a store does not carry them in
// its bundle.

import type { decide } from "./approvals/decide.ts";
import type { servePage } from "./pages/pages.ts";
import type { deliver } from "./pages/tickets.ts";
import type { CallTools } from "./pause/continuable.ts";
import type { pauseRound, pauseTask } from "./pause/pause.ts";
import type { runOnce } from "./round/repeated-round.ts";
import type { installTasks } from "./sdk/task-methods.ts";
import type { Work } from "./tasks/task-engine.ts";

/** What needs a store, and is reached only through here. */
export interface StoreParts extends CallTools {
  readonly Work: typeof Work;
  readonly decide: typeof decide;
  readonly deliver: typeof deliver;
  readonly installTasks: typeof installTasks;
  readonly pauseRound: typeof pauseRound;
  readonly pauseTask: typeof pauseTask;
  readonly runOnce: typeof runOnce;
  /** Loads what shows pages. */
  readonly loadPages: () => Promise<{ readonly servePage: typeof servePage }>;
}

let brought: StoreParts | undefined;

/** Brings the parts. From then on, every app of this process has them. */
export function bringStoreParts(parts: StoreParts): void {
  brought = parts;
}

/** The parts. Undefined only in a Worker in which nothing has made a store. */
export const storeParts = (): StoreParts | undefined => brought;

/** The parts, where the app has a store. */
export function neededParts(): StoreParts {
  if (brought !== undefined) return brought;
  throw new TypeError(
    "parley({ store }): in a Worker, only durableObjectStore() and memoryStore() bring along what works with a store. Pass any other store as parley({ store: workerStore(store) }), with workerStore from mcp-parley.",
  );
}
