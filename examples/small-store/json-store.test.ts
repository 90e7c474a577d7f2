// The small store keeps the contract.

// #region contract
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { storeContract } from "mcp-parley/testing/store";
import { test } from "vitest";
import { JsonStore } from "./json-store.ts";

const contract = storeContract(async ({ startsAt }) => {
  const folder = await mkdtemp(join(tmpdir(), "json-store-"));
  let now = startsAt;
  const open = () => new JsonStore(join(folder, "tasks.json"), () => now);
  return {
    store: open(),
    another: async () => open(),
    advance: async (ms) => void (now += ms),
    hasHints: false,
    close: () => rm(folder, { recursive: true }),
  };
});
for (const { name, run } of contract) test(name, run, 300_000);
// #endregion contract
