// Several people at one console: those who decide together, those who may only look, and those without the keys.

import { parley } from "mcp-parley";
import type { App } from "mcp-parley";
import { operatorConsole } from "mcp-parley/console";
import type { Operator } from "mcp-parley/console";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { serve } from "../../src/cli/commands/console.ts";
import { MemoryStore } from "../../src/tasks/stores/memory.ts";
import { by, named } from "../console/callers.ts";
import { byHeader } from "../console/opened.ts";
import { keys, quiet } from "../interop/errands.ts";
import { begun, until } from "../wire/task-calls.ts";
import { openBrowser } from "./chromium.ts";
import { forgetShifts, goTo, shiftsOf, violationsIn, withPage } from "./console-tools.ts";

const store = new MemoryStore();
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

const cardOn = (page: Page) => page.getByRole("article").filter({ hasText: "Deploy 1.0.1?" });

test("who has approved sees on the same card what the others decide", async () => {
  const id = await deploy("1.0.1");
  await as(bob, async (first) => {
    await as(dan, async (second) => {
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

/** What the browser complains about. */
function complaintsOf(page: Page): readonly string[] {
  const complaints: string[] = [];
  page.on("console", (message) => void complaints.push(message.text()));
  page.on("pageerror", (error) => void complaints.push(String(error)));
  return complaints;
}

test("a task is cancelled without a complaint of the browser", async () => {
  const id = await deploy("1.0.3");
  await as(bob, async (page) => {
    const complaints = complaintsOf(page);
    await goTo(page, at, `#/tasks/${id}`);
    await page.getByRole("button", { name: "Cancel the task" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Cancel the task" }).click();
    await page.getByText("Cancelled", { exact: true }).waitFor();
    expect(await page.getByRole("dialog").count()).toBe(0);
    expect(complaints).toEqual([]);
  });
});

test("a guest is told once what a guest may do, and that values are not shown", async () => {
  const id = await deploy("1.0.4");
  await deploy("1.0.5");
  await as(guest, async (page) => {
    await goTo(page, at, "#/inbox");
    await page.getByRole("article").nth(1).waitFor();
    expect(await page.getByText("You may look, and not act.").count()).toBe(1);
    await page.getByText("The group managers decides.").first().waitFor();
    expect(await violationsIn(page)).toEqual([]);
    await goTo(page, at, `#/tasks/${id}`);
    await page.getByText("Arguments, answers and results are not shown to you.").waitFor();
    expect(await violationsIn(page)).toEqual([]);
  });
});

test("a task that does not exist is not looked for again", async () => {
  await as(guest, async (page) => {
    await goTo(page, at, "#/tasks/unknown");
    await page.getByRole("alert").getByText("There is no such task.").waitFor();
    expect(await page.getByRole("button", { name: "Try again" }).count()).toBe(0);
  });
});

test("without the keys a console says what it cannot show, and its link works once", async () => {
  const id = await deploy("1.0.6");
  const printed: string[] = [];
  const io = { out: (text: string) => void printed.push(text.trim()), err: () => {} };
  const served = await serve({ store, name: "desk", port: 0 }, io);
  const [link = ""] = printed;
  try {
    await withPage(browser, { bypassCSP: true }, async (page) => {
      await page.goto(link);
      await page.getByText("may cancel tasks").waitFor();
      const without = page.getByText("This console does not have the keys of the server");
      await without.waitFor();
      await page.getByRole("article").first().waitFor();
      expect(await without.count()).toBe(1);
      expect(await page.getByRole("button", { name: /Approve|Answer/ }).count()).toBe(0);
      await page.getByRole("link", { name: "Health" }).click();
      await page.getByText("Records are sealed.").waitFor();
      expect(await violationsIn(page)).toEqual([]);
      await page.goto(`${new URL("/", link).href}#/tasks/${id}`);
      await page
        .getByText("Without the keys, arguments, answers and results cannot be shown.")
        .waitFor();
      await page
        .getByRole("region", { name: "Audit record" })
        .getByText("sealed")
        .first()
        .waitFor();
    });
    await withPage(browser, { bypassCSP: true }, async (page) => {
      await page.goto(link);
      await page.getByRole("heading", { name: "This link has been used" }).waitFor();
      await page.getByText("There is a new one in the terminal").waitFor();
      expect(await violationsIn(page)).toEqual([]);
    });
    expect(printed).toHaveLength(2);
  } finally {
    await served.close();
  }
});
