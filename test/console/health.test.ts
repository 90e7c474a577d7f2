// What Health says about workers and about what waits for people.

import { expect, test } from "vitest";
import type { HealthFacts } from "../../src/console/wire.ts";
import { MemoryStore } from "../../src/tasks/stores/memory.ts";
import { opened, viewer } from "./opened.ts";
import { shop, waiting } from "./shop.ts";

test("health counts what waits for people, and lists workers by name", async () => {
  const store = new MemoryStore();
  const made = shop({ store });
  const at = await opened(made.app);
  const health = async () => (await at.get("api/health", viewer)).body as HealthFacts;
  expect(await health()).toMatchObject({ waiting: 0 });
  expect(await health()).not.toHaveProperty("waitingSince");
  await waiting(made, at, "pay");
  await waiting(made, at, "nap", {});
  for (const name of ["zoe", "abe", "mia"]) await store.renew(name, [], store.leaseMs);
  const { waiting: number, waitingSince, workers } = await health();
  expect([number, waitingSince]).toEqual([1, expect.any(Number)]);
  const names = workers.map(({ name }) => name);
  expect(names).toEqual(names.toSorted());
  expect(names).toContain("mia");
});
