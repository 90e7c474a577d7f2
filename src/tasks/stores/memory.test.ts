// The suite for all stores, on the memory store.

import { test } from "vitest";
import { storeContract } from "../../testing/store/contract.ts";
import { MemoryStore } from "./memory.ts";

const contract = storeContract(async ({ startsAt }) => {
  let now = startsAt;
  const store = new MemoryStore({ now: () => now });
  return {
    store,
    another: async () => store,
    advance: async (ms) => void (now += ms),
    close: () => store.close(),
  };
});

for (const { name, run } of contract) test(name, run, 300_000);
