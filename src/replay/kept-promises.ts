// Finds a mistake: a handler keeps a promise from an earlier run, and awaits it before it does anything else. That
// promise is never settled, because its run has ended, so the new run would wait forever without an error.
//
// A run that continues a call watches for such an await while its handler takes its first steps: from its start until the
// microtasks that the start has queued are over. What happens later is not looked at, because then the engine knows from the
// operations of the run that its handler waits for something else.

import type { NamedOperation } from "./author-errors.ts";

/** A run that has just started. */
export interface StartingRun {
  /** The name of its handler. */
  readonly name: string;
  /** The handler awaits this operation of a run that has ended. */
  readonly onKept: (operation: NamedOperation) => void;
}

// `await` of one of our promises takes one microtask to call `then`, and through a combinator such as `Promise.all` a few more.
const hops = 5;

const starting = new Set<StartingRun>();

/** Watches a run whose handler is about to be called. */
export const watchStart = (run: StartingRun): void => void starting.add(run);

/** The first steps of the handler can be seen no more, or it has done something, as most have when they return. */
export const endWatch = (run: StartingRun): void => void starting.delete(run);

/** Ends the watch when the first steps of the handler are over. */
export async function endWatchSoon(run: StartingRun): Promise<void> {
  // oxlint-disable-next-line typescript/await-thenable -- each takes one microtask
  for (let hop = 0; hop <= hops; hop += 1) await undefined;
  endWatch(run);
}

/** An operation was awaited after its run had ended, and before it was settled. */
export function awaitedAfterEnd(handler: string, operation: NamedOperation): void {
  for (const run of starting) if (run.name === handler) run.onKept(operation);
}
