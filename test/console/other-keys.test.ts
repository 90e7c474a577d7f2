// Tasks that are sealed with a key which this replica does not have, as after a replica with another key is gone.

import { expect, test, vi } from "vitest";
import type { Inbox, TaskDetails, TaskList } from "../../src/console/wire.ts";
import { MemoryStore } from "../../src/tasks/stores/memory.ts";
import { parseKeys } from "../../src/token/keyring.ts";
import { sealRecord } from "../../src/token/sealed-record.ts";
import { patience } from "../patience.ts";
import { admin, opened, viewer } from "./opened.ts";
import { shop, waiting } from "./shop.ts";

const otherKeys = "other:HB0eHyAhIiMkJSYnKCkqKywtLi8wMTIzNDU2Nzg5Ojs";

test("a task that no worker can open is stuck, and names the key", async () => {
  let ahead = 0;
  const store = new MemoryStore({ now: () => Date.now() + ahead });
  const at = await opened(shop({ store }).app);
  const input = sealRecord("{}", "shop/gone/input", parseKeys(otherKeys));
  const rest = { log: [], inbox: [], ttlMs: 1_000_000_000, claimedBy: undefined };
  await store.create(
    { id: "sealed", callId: "gone", tool: "nap", principal: "", input, ...rest },
    9,
  );
  await vi.waitFor(async () => {
    ahead += 20_000;
    const { tasks } = (await at.get("api/tasks?stuck=1", viewer)).body as TaskList;
    expect(tasks).toMatchObject([
      {
        id: "sealed",
        isStuck: true,
        why: expect.stringMatching(
          /^No worker can open it: it is sealed with the key "other"\. Start a replica whose PARLEY_KEYS has that key, or cancel the task\./,
        ),
      },
    ]);
  }, patience);
  const { task, runs } = (await at.get("api/tasks/sealed", viewer)).body as TaskDetails;
  // The reason says it all, also for those who may see causes.
  expect((await at.get("api/tasks/sealed", admin)).body).not.toHaveProperty("task.cause");
  expect(task).toMatchObject({ missingKey: "other", status: "working" });
  expect(runs.filter(({ how }) => how === "failed").length).toBeGreaterThan(2);
});

test("an approval names the key that this console lacks", async () => {
  const store = new MemoryStore();
  const gone = shop({ store, keys: otherKeys });
  await waiting(gone, await opened(gone.app), "refund");
  await gone.app.close();
  const at = await opened(shop({ store }).app);
  const { items } = (await at.get("api/inbox", admin)).body as Inbox;
  expect(items).toMatchObject([
    {
      mayAnswer: false,
      whyNot:
        'The question is sealed with the key "other", which this console does not have. Add it to PARLEY_KEYS.',
    },
  ]);
});
