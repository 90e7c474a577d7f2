// Several people at one console: those who decide together, those who may only look, and those without the keys.

import { memoryStore, parley } from "mcp-parley";
import type { App } from "mcp-parley";
import { operatorConsole } from "mcp-parley/console";
import type { Operator } from "mcp-parley/console";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { by, named } from "../console/callers.ts";
import { byHeader } from "../console/opened.ts";
import { keys, quiet } from "../interop/errands.ts";
import { begun, until } from "../wire/task-calls.ts";
import { openBrowser } from "./chromium.ts";
import { forgetShifts, goTo, shiftsOf, withPage } from "./console-tools.ts";

const store = memoryStore();
const customer = by("customer");
const managers = { groups: ["managers"], may: "act", values: true } as const;
const bob: Operator = { who: "bob", ...managers };
const dan: Operator = { who: "dan", ...managers };
const guest: Operator = { who: "guest", groups: [], may: "look" };

let browser: Browser;
let app: App;
let at: string;
beforeAll(async () => {
  browser = await openBrowser();
  app = parley({ name: "desk", version: "1.0.0", keys, logger: quiet, store, ...named });
  const Release = z.object({ version: z.string() });
  app.tool("deploy", { inputSchema: Release, task: "required" }, async ({ version }, ctx) => {
    await ctx.background();
    await ctx.approve("go", `Deploy ${version}?`, { by: "managers", of: 2, notify: () => {} });
    return "deployed";
  });
  app.tool("badge", { task: "required" }, async (ctx) => {
    await ctx.background();
    return ctx.ask("number", "Which badge?");
  });
  const { url } = await app.listen(0, { console: operatorConsole(app, byHeader) });
  at = new URL("/console/", url).href;
});
afterAll(async () => {
  await browser?.close();
  await app?.close();
});

const as = <T>(operator: Operator, use: (page: Page) => Promise<T>): Promise<T> => {
  const extraHTTPHeaders = { "x-operator": JSON.stringify(operator) };
  return withPage(browser, { extraHTTPHeaders, bypassCSP: true }, use);
};

const deploy = (version: string): Promise<string> => begun(app, "deploy", { version }, customer);

test("who has approved sees on the same card what the others decide", async () => {
  const id = await deploy("1.0.1");
  await as(bob, async (first) => {
    await as(dan, async (second) => {
      const cardOn = (page: Page) => page.getByRole("article").filter({ hasText: "Deploy 1.0.1?" });
      for (const [turn, page] of [first, second].entries()) {
        await goTo(page, at, "#/inbox");
        const card = cardOn(page);
        await card.getByText(`${turn} of 2 have approved`).waitFor();
        await card.getByRole("button", { name: "Approve…" }).click();
        await card.getByRole("button", { name: "Approve", exact: true }).click();
        // The form closes at once, because the person has used it.
        await forgetShifts(page);
        await card.getByText(`${turn + 1} of 2 have approved`).waitFor();
      }
      await until(app, id, "completed", customer);
      for (const page of [first, second]) {
        const card = cardOn(page);
        await card.getByText("2 of 2 have approved").waitFor();
        await card.getByText("dan", { exact: true }).waitFor();
        await card.locator(".outcome").filter({ hasText: "Approved." }).waitFor();
        expect(await card.getByText("waits for others").count()).toBe(0);
        expect(await shiftsOf(page)).toEqual([]);
        // Nothing is left of the form, not even its room.
        const room = await card.locator(".answer").boundingBox();
        expect(room?.height).toBeLessThan(48);
      }
    });
  });
});

test("the filters of the inbox offer what it has, as soon as it is loaded", async () => {
  await deploy("1.0.2");
  await begun(app, "badge", {}, customer);
  await as(guest, async (page) => {
    await goTo(page, at, "#/inbox");
    await page.getByRole("article").nth(1).waitFor();
    const offered = (name: string) => page.getByLabel(name).locator("option").allTextContents();
    await expect.poll(() => offered("Tool")).toEqual(["Any", "badge", "deploy"]);
    expect(await page.locator("select[name=group] option").allTextContents()).toEqual([
      "Any",
      "managers",
    ]);
  });
});
