// The screen Health of the console, with data that is made up.

import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openBrowser } from "./chromium.ts";
import { clock } from "../../src/console/page/format.ts";
import { counts, health } from "./console-data.ts";
import { openDesk } from "./console-desk.ts";
import type { Desk } from "./console-desk.ts";
import { goTo, shiftsOf, violationsIn, withPage } from "./console-tools.ts";

let browser: Browser;
let desk: Desk;
beforeAll(async () => {
  browser = await openBrowser();
  desk = await openDesk();
});
afterAll(async () => {
  await browser?.close();
  await desk?.close();
});

test("while the store is down, health does not call a worker alive", async () => {
  const own = await openDesk();
  try {
    await withPage(browser, {}, async (page) => {
      await goTo(page, own.at, "#/health");
      await page.getByText("alive").first().waitFor();
      await page.locator(".tile").filter({ hasText: "In the inbox" }).getByText("26 h").waitFor();
      own.setDown(true);
      const errors = page.locator(".tile.bad").filter({ hasText: "Store errors" });
      await errors.filter({ hasText: `failing since ${clock(own.downSince)}` }).waitFor();
      expect(await page.getByText("alive").count()).toBe(0);
      expect(await page.getByText("not known").count()).toBe(2);
      expect(await shiftsOf(page)).toEqual([]);
    });
  } finally {
    await own.close();
  }
});

test("figures that come and go on health move nothing", async () => {
  await withPage(browser, { viewport: { width: 360, height: 800 } }, async (page) => {
    const { waitingSince: _, oldestDue: __, ...quiet } = health();
    await page.route("**/api/health", (route) =>
      route.fulfill({ json: { ...quiet, waiting: 0, figures: { ...counts, due: 0 } } }),
    );
    await goTo(page, desk.at, "#/health");
    const inbox = page.locator(".tile").filter({ hasText: "In the inbox" });
    await inbox.getByText("0", { exact: true }).waitFor();
    await page.unroute("**/api/health");
    desk.say({ type: "any" });
    await inbox.getByText("the oldest for 26 h").waitFor();
    expect(await shiftsOf(page)).toEqual([]);
  });
});

test("health says that no worker runs, and which figures are of this process", async () => {
  await withPage(browser, { bypassCSP: true }, async (page) => {
    await page.route("**/api/health", async (route) => {
      const known = health();
      const workers = known.workers.map((worker) => ({ ...worker, isSilent: true }));
      const storeFailingSince = Date.now() - 5_000;
      const json = { ...known, workers, roundsPerCall: {}, storeErrors: 66, storeFailingSince };
      await route.fulfill({ json });
    });
    await goTo(page, desk.at, "#/health");
    await page.getByText("No worker runs on this store: all are silent.").waitFor();
    expect(await page.getByText("Others take over").count()).toBe(0);
    await page.getByText("Calls that became tasks do not count.").waitFor();
    const errors = page.locator(".tile").filter({ hasText: "Store errors" });
    expect(await errors.textContent()).toContain("failing since");
    expect(await violationsIn(page)).toEqual([]);
    // It is over: the errors were there, and are not red.
    await page.unroute("**/api/health");
    await page.route("**/api/health", (route) =>
      route.fulfill({ json: { ...health(), storeErrors: 66 } }),
    );
    desk.say({ type: "any" });
    await errors.filter({ hasText: "met by this process" }).waitFor();
    expect(await errors.getAttribute("class")).toBe("tile");
    await page.getByText("Others take over").waitFor();
  });
});
