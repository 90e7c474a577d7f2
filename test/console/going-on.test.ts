// An answer is kept even if no worker can go on with its task, and says so.

import { parley } from "mcp-parley";
import { expect, test } from "vitest";
import { MemoryStore } from "../../src/tasks/stores/memory.ts";
import { keys } from "../interop/errands.ts";
import { clerk, opened } from "./opened.ts";
import { quiet, shop, waiting } from "./shop.ts";

test("an answer says if nobody goes on with the task", async () => {
  const store = new MemoryStore();
  const made = shop({ store });
  const at = await opened(made.app);
  const [first, second] = [await waiting(made, at, "pay"), await waiting(made, at, "pay")];
  await made.app.close();
  // Another version without the tool, and then with workers that have all left.
  const other = parley({ name: "shop", version: "2.0.0", keys, store, logger: quiet });
  other.tool("else", { task: "required" }, () => "done");
  const later = await opened(other);
  const answer = (task: string) =>
    later.post("api/answers", { task, key: "sign", value: { ok: true } }, clerk);
  expect((await answer(first)).body).toEqual({
    status: "delivered",
    obstacle:
      'This version of the server does not have the tool "pay". The task goes on when a worker has it.',
  });
  Object.assign(store, { workers: async () => ({ now: Date.now(), workers: [] }) });
  expect((await answer(second)).body).toEqual({
    status: "delivered",
    obstacle: "No worker runs on this store. The task goes on when one does.",
  });
});
