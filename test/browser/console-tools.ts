// A browser that looks at consoles, and what is measured in it.

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";

/** Opens a page, and closes it after use. */
export async function withPage<T>(
  browser: Browser,
  options: BrowserContextOptions,
  use: (page: Page) => Promise<T>,
): Promise<T> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...options });
  // A page that waits for something that does not come would wait for ever.
  context.setDefaultTimeout(60_000);
  try {
    const page = await context.newPage();
    await page.addInitScript(measure);
    return await use(page);
  } finally {
    await context.close();
  }
}

/** Notes in the page what moves by itself, as texts. */
const measure = `
  globalThis.shifts = [];
  new PerformanceObserver((list) => {
    for (const { value, sources } of list.getEntries()) {
      // This is a small element that moves by a pixel when its text is rounded. Nobody sees it.
      if (value < 0.00002) continue;
      const moved = sources.map(({ node }) => node?.outerHTML?.slice(0, 80) ?? "something");
      globalThis.shifts.push(value + ": " + moved.join(" | "));
    }
  }).observe({ type: "layout-shift", buffered: true });
`;

/** What has moved by itself since the page was opened. */
export const shiftsOf = (page: Page): Promise<unknown> => page.evaluate("globalThis.shifts");

/** What moved because the person opened something is not by itself, however long a busy machine takes for it. */
export async function forgetShifts(page: Page): Promise<void> {
  await page.evaluate("new Promise(requestAnimationFrame)");
  await page.evaluate("globalThis.shifts = []");
}

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** What axe finds. The context needs `bypassCSP`. */
export async function violationsIn(page: Page): Promise<unknown> {
  await page.evaluate(axe);
  return page.evaluate(
    `axe.run().then(({ violations }) => violations.map(({ id, nodes }) => id + ": " + nodes[0].html.slice(0, 120)))`,
  );
}

/** Goes to a place of the console, and waits until it shows what it is for. */
export async function goTo(page: Page, at: string, place: string): Promise<void> {
  await page.goto(`${at}${place}`);
  await page.locator("main h1").waitFor();
  await page.locator("[aria-busy=true]").waitFor({ state: "detached" });
}
