// The pages in a real browser: with scripts off and on, by keyboard alone, on a narrow screen, in dark mode, and with axe.

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openBrowser, serve } from "./chromium.ts";

let browser: Browser;
let desk: Awaited<ReturnType<typeof serve>>;
beforeAll(async () => {
  browser = await openBrowser();
  desk = await serve();
});
afterAll(async () => {
  await browser?.close();
  await desk?.app.close();
});

async function inPage<T>(
  options: BrowserContextOptions,
  use: (page: Page) => Promise<T>,
): Promise<T> {
  const context = await browser.newContext(options);
  try {
    return await use(await context.newPage());
  } finally {
    await context.close();
  }
}

describe.each([true, false])("with scripts: %s", (javaScriptEnabled) => {
  test("a form is filled in, sent and used by the call", async () => {
    const { url, state } = await desk.ask("book");
    await inPage({ javaScriptEnabled }, async (page) => {
      await page.goto(url);
      await page.getByLabel("Your name").fill("Ada");
      await page.getByLabel("Mail").fill("ada@example.com");
      await page.getByLabel("Day").fill("2027-03-04");
      await page.getByLabel("Soup").check();
      await page.getByLabel("Country").selectOption("CH");
      await page.getByLabel("Parking").check();
      await page.getByLabel("Newsletter").uncheck();
      await page.getByRole("button", { name: "Send" }).click();
      await page.getByRole("heading", { name: "Saved" }).waitFor();
      expect(new URL(page.url()).search).toBe("?saved");
    });
    expect(JSON.parse(await desk.answered("book", state))).toEqual({
      name: "Ada",
      mail: "ada@example.com",
      day: "2027-03-04",
      guests: 1,
      meal: "Soup",
      country: "CH",
      extras: ["Parking"],
      newsletter: false,
    });
  });
});

test("the keyboard alone answers, from the first field to the button", async () => {
  const { url, state } = await desk.ask("key");
  await inPage({}, async (page) => {
    await page.goto(url);
    await page.keyboard.press("Tab");
    await page.keyboard.type("s3cret");
    await page.keyboard.press("Tab");
    expect(await page.evaluate("document.activeElement.textContent")).toBe("Send");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Saved" }).waitFor();
  });
  expect(await desk.answered("key", state)).toBe("s3cret");
});

test("declining needs no field, and is a no", async () => {
  const { url, state } = await desk.ask("erase");
  await inPage({}, async (page) => {
    await page.goto(url);
    await page.getByRole("button", { name: "No" }).click();
    await page.getByRole("heading", { name: "Saved" }).waitFor();
  });
  expect(await desk.answered("erase", state)).toBe("false");
});

test("nothing scrolls sideways at 320 pixels", async () => {
  for (const tool of ["book", "erase", "key"]) {
    const { url } = await desk.ask(tool);
    await inPage({ viewport: { width: 320, height: 640 } }, async (page) => {
      await page.goto(url);
      expect(await page.evaluate("document.documentElement.scrollWidth")).toBeLessThanOrEqual(320);
    });
  }
});

test("no other site can frame the page", async () => {
  const { url } = await desk.ask("erase");
  await inPage({}, async (page) => {
    await page.setContent(`<iframe src="${url}"></iframe>`);
    await expect.poll(() => page.frames().length).toBe(2);
    const frame = page.frames()[1];
    await frame?.waitForLoadState().catch(() => {});
    expect(await frame?.content()).not.toContain("Erase the archive");
  });
});

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

describe.each(["light", "dark"] as const)("axe finds nothing in %s mode", (colorScheme) => {
  test.each(["book", "erase", "key"])("%s", async (tool) => {
    const { url } = await desk.ask(tool);
    // The page's policy forbids every script, so the browser is told to leave it aside.
    await inPage({ colorScheme, bypassCSP: true }, async (page) => {
      const violations = async () => {
        await page.evaluate(axe);
        return page.evaluate("axe.run().then(({ violations }) => violations.map(({ id }) => id))");
      };
      await page.goto(url);
      expect(await violations()).toEqual([]);
      if (tool !== "book") return;
      await page.evaluate("document.querySelector('form').noValidate = true");
      await page.getByRole("button", { name: "Send" }).click();
      await page.getByRole("alert").waitFor();
      expect(await violations()).toEqual([]);
    });
  });
});
