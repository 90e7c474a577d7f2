// Finds questions and steps that are used inside a step's body, where they are a mistake (R10).
//
// Following an asynchronous context makes each `await` slower on Node 20 and 22, so it is done in development only there.

import { AsyncLocalStorage } from "node:async_hooks";
import type { Nesting } from "../../replay/carrier.ts";

/** From Node 24 on, following an asynchronous context costs almost nothing. */
export const isNestingFree: boolean = Number.parseInt(process.versions?.node ?? "", 10) >= 24;

const storage = new AsyncLocalStorage<{ readonly owner: object; readonly step: string }>();

/** Follows a step's body across its awaits. Each run has its own, because a body may call another tool of this process. */
export function bodyNesting(): Nesting {
  const owner = {};
  return {
    run: (step, body) => storage.run({ owner, step }, body),
    current: () => {
      const store = storage.getStore();
      return store?.owner === owner ? store.step : undefined;
    },
  };
}
