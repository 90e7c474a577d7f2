// The suite for all stores, on the memory store.

import { describeTaskStore } from "../../testing/store/contract.ts";
import { MemoryStore } from "./memory.ts";

describeTaskStore("MemoryStore", async ({ startsAt }) => {
  let now = startsAt;
  const store = new MemoryStore({ now: () => now });
  return {
    store,
    another: async () => store,
    advance: async (ms) => void (now += ms),
    close: () => store.close(),
  };
});
