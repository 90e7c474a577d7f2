// Being late is not a change: no store says that a task has been due for too long. An open page has to notice by itself.

import { parley } from "mcp-parley";
import { operatorConsole } from "mcp-parley/console";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { byHeader, viewer } from "../console/opened.ts";
import { patience } from "../patience.ts";
import { keys, quiet } from "../interop/errands.ts";
import { MemoryStore } from "../../src/tasks/stores/memory.ts";
import { openBrowser } from "./chromium.ts";
import { goTo, shiftsOf, withPage } from "./console-tools.ts";

let browser: Browser;
beforeAll(async () => {
  browser = await openBrowser();
});
afterAll(() => browser?.close());

test("an open page shows the version of the server after a deployment", async () => {
  const store = new MemoryStore();
  const serve = async (version: string, port: number) => {
    const app = parley({ name: "shop", version, keys, logger: quiet, store });
    const { url } = await app.listen(port, { console: operatorConsole(app, byHeader) });
    return { app, url };
  };
  let { app, url } = await serve("1.0.0", 0);
  try {
    const extraHTTPHeaders = { "x-operator": JSON.stringify(viewer) };
    await withPage(browser, { extraHTTPHeaders }, async (page) => {
      await goTo(page, new URL("/console/", url).href, "#/health");
      await page.locator(".name").filter({ hasText: "1.0.0" }).waitFor();
      await app.close();
      ({ app, url } = await serve("1.1.0", Number(new URL(url).port)));
      const version = () => page.locator(".name span").textContent();
      await expect.poll(version, patience).toBe("1.1.0");
    });
  } finally {
    await app.close();
  }
});

test.each([
  ["the list", "#/tasks?stuck=1", ".c-why"],
  ["the task", "#/tasks/lost", ".verdict"],
  ["health", "#/health", ".tile.bad"],
])(
  "a task that nobody takes up becomes stuck on an open page, although the store is still: %s",
  async (_, place, late) => {
    let ahead = 0;
    const store = new MemoryStore({ now: () => Date.now() + ahead });
    const app = parley({ name: "shop", version: "1.0.0", keys, logger: quiet, store });
    const { url } = await app.listen(0, { console: operatorConsole(app, byHeader), worker: false });
    const at = new URL("/console/", url).href;
    const task = { id: "lost", callId: "lost-call", tool: "reindex", principal: "", input: "?" };
    await store.create({ ...task, log: [], inbox: [], ttlMs: 3_600_000, claimedBy: undefined }, 10);
    const extraHTTPHeaders = { "x-operator": JSON.stringify(viewer) };
    try {
      await withPage(browser, { extraHTTPHeaders }, async (page) => {
        // The page reads when it opens, and when the stream of changes does.
        let reads = 0;
        page.on("response", (response) => {
          if (response.url().includes("stuck=1&limit=50")) reads += 1;
        });
        await goTo(page, at, place);
        await page.getByText("Nothing is stuck.").waitFor();
        await expect.poll(() => reads, patience).toBeGreaterThan(1);
        expect(await page.locator(late).filter({ hasText: "due for" }).count()).toBe(0);
        // All workers are gone, so nothing happens any more but that time passes.
        ahead = 91_000;
        await page.getByText("One task of reindex is stuck").waitFor();
        await page.locator(late).filter({ hasText: /for/ }).first().waitFor();
        expect(await shiftsOf(page)).toEqual([]);
      });
    } finally {
      await app.close();
    }
  },
);
