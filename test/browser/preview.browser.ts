// `parley dev --client app` in a real browser: an author sees the form, and what the model reads.

import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { openPreview } from "../../src/cli/dev/app-preview.ts";
import { appDesk } from "./app-host.ts";
import { openBrowser, tooWide, violationsIn } from "./chromium.ts";
import { inPage } from "./page-states.ts";

let browser: Browser;
beforeAll(async () => void (browser = await openBrowser()));
afterAll(() => browser?.close());

test("an author calls a tool, fills in its form, and sees what the model reads", async () => {
  const app = appDesk([]);
  const { url } = await app.listen(0);
  onTestFinished(() => app.close());
  const preview = await openPreview(url);
  onTestFinished(preview.close);
  await inPage(
    browser,
    { viewport: { width: 320, height: 600 }, bypassCSP: true },
    async (page) => {
      await page.goto(preview.url);
      await page.getByLabel("Tool").selectOption("even");
      await page.getByRole("button", { name: "Call it" }).click();
      await page.getByText("A form is shown to the user. Wait.").waitFor();
      const form = page.frameLocator("iframe");
      await form.getByLabel("Your answer").fill("4");
      expect(await violationsIn(page)).toEqual([]);
      await form.getByRole("button", { name: "Send" }).click();
      await form.getByRole("heading", { name: "Done" }).waitFor();
      await page.getByRole("heading", { name: "The App tells the model" }).waitFor();
      await page.getByRole("button", { name: "Say that you are done" }).click();
      await page.getByRole("heading", { name: "continue_call" }).waitFor();
      expect(await page.getByText("4", { exact: true }).count()).toBe(2);
      expect(await tooWide(page)).toBe(0);
    },
  );
});
