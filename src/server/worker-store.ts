// The stores of an app that runs in a Worker. They bring along what an app needs only with a store.

import { MemoryStore } from "../tasks/stores/memory.ts";
import type { Store } from "../tasks/store.ts";
import { bringStoreParts } from "./store-parts.ts";
import { withStore } from "./with-store.ts";

/**
 * Lets a Worker use a store that is not a `durableObjectStore`, such as `postgresStore` or a store of your own. A Worker's bundle
 * has what works with a store only if the Worker has one, and this brings it along. Elsewhere it changes nothing.
 *
 * @example
 * ```ts
 * import { parley, workerStore } from "mcp-parley";
 * import { postgresStore } from "mcp-parley/postgres";
 *
 * const app = parley({ name: "kitchen", version: "1.0.0", store: workerStore(postgresStore(pool)) });
 * ```
 */
export function workerStore<S extends Store>(store: S): S {
  bringStoreParts(withStore);
  return store;
}

/**
 * Keeps tasks in the memory of this process, for tests and for trying things out. They are gone when the process ends.
 *
 * @example
 * ```ts
 * import { memoryStore, parley } from "mcp-parley";
 *
 * const app = parley({ name: "kitchen", version: "1.0.0", store: memoryStore() });
 * ```
 */
export const memoryStore = (): Store => workerStore(new MemoryStore());
