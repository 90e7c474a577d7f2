// The console of development, opened with the link that the server prints: trying a tool, and its call round by round.

import { parley } from "mcp-parley";
import type { Logger } from "mcp-parley";
import { operatorConsole } from "mcp-parley/console";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { z } from "zod";
import { keys } from "../interop/errands.ts";
import { patience } from "../patience.ts";
import { openBrowser } from "./chromium.ts";
import { violationsIn, withPage } from "./console-tools.ts";

let browser: Browser;
beforeAll(async () => {
  browser = await openBrowser();
});
afterAll(() => browser?.close());

test("a link opens the console once; a tool is tried, attacked and answered, and its rounds are shown", async () => {
  const said: string[] = [];
  const note = (text: string) => void said.push(text);
  const logger: Logger = { debug: note, info: note, warn: note, error: note };
  const app = parley({ name: "table", version: "1.0.0", keys, logger });
  app.tool("book", { inputSchema: z.object({ guests: z.int() }) }, async ({ guests }, ctx) => {
    const free = await ctx.step("find", () => 7);
    const { day } = await ctx.ask("day", "Which day?", z.object({ day: z.string() }));
    return `Table ${free} for ${guests} on ${day}.`;
  });
  try {
    await app.listen(0, { console: operatorConsole(app) });
    const link = await vi.waitFor(() => {
      const line = said.find((text) => text.includes("#link="));
      if (line === undefined) throw new Error("No link was printed.");
      return line.slice(line.indexOf("http"));
    }, patience);
    await withPage(browser, { bypassCSP: true }, async (page) => {
      await page.goto(link);
      await page.getByRole("link", { name: "Try" }).click();
      expect(page.url()).not.toContain("link=");
      await page.getByLabel("Guests").fill("4");
      await page.getByRole("button", { name: "Call", exact: true }).click();
      await page.getByText("Which day?").first().waitFor();
      await page.getByRole("button", { name: "Tamper with the token" }).click();
      await page.getByText("Refused", { exact: true }).waitFor();
      await page.getByLabel("Day").fill("Friday");
      await page.getByRole("button", { name: "Send" }).click();
      await page.getByText("Table 7 for 4 on Friday.").first().waitFor();
      await page.getByRole("link", { name: "Calls" }).click();
      await page.getByRole("link", { name: "book" }).click();
      await page.getByText("Round 2", { exact: true }).waitFor();
      await page.getByRole("option", { name: "find" }).click();
      const details = page.getByRole("complementary", { name: "The selected entry" });
      await details.getByText("Replayed in").waitFor();
      expect(await violationsIn(page)).toEqual([]);
      // The session belongs to this tab.
      await page.reload();
      await page.getByText("Round 2", { exact: true }).waitFor();
    });
    await withPage(browser, {}, async (page) => {
      await page.goto(link);
      await page.getByText("This link has been used").waitFor();
    });
  } finally {
    await app.close();
  }
});
