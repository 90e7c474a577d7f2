// The store that an app gets in development, if one of its tools or its pages need one.

import type { Store } from "../../tasks/store.ts";
import type { Registry } from "../define/registry.ts";
import { needsStore, noStoreFor } from "./store-needed.ts";

/** Undefined if nothing needs a store. Throws ParleyError "no_store" if a store is needed and is not made by default. */
export async function storeByDefault(
  registry: Registry,
  isLocal: boolean,
  hasPages: boolean,
): Promise<Store | undefined> {
  if (!isLocal || process.env["NODE_ENV"] === "production") noStoreFor(registry);
  else if (hasPages || [...registry].some(({ definition }) => needsStore(definition))) {
    const { sqliteStore } = await import("../../tasks/stores/sqlite/index.ts");
    return sqliteStore();
  }
  return undefined;
}
