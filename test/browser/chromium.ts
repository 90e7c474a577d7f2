// A real browser.

import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { chromium } from "playwright-core";
import type { Browser, Frame, Page } from "playwright-core";
import { patience } from "../patience.ts";

const candidates = [
  process.env["CHROMIUM"] ?? "",
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
  "/usr/bin/google-chrome",
  "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
];

/** Starts Chromium. It is installed by the system, because npm has no package of it. */
export function openBrowser(): Promise<Browser> {
  const executablePath = candidates.find((path) => path !== "" && existsSync(path));
  if (executablePath === undefined) {
    throw new Error(
      "There is no Chromium here. Install it (on Debian: apt-get install -y chromium), or set CHROMIUM to its path.",
    );
  }
  const args = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
  ];
  return chromium.launch({ executablePath, headless: true, args });
}

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** What axe finds wrong: the rule, and the elements that break it. */
export async function violationsIn(page: Page | Frame): Promise<unknown> {
  await page.evaluate(axe);
  return page.evaluate(
    "axe.run().then(({ violations }) => violations.map(({ id, nodes }) => [id, ...nodes.map(({ html }) => html)]))",
  );
}

/** By how many pixels a document is too wide for its window. */
export const tooWide = (page: Page | Frame): Promise<number> =>
  page.evaluate<number>(
    "Math.max(0, document.documentElement.scrollWidth - document.documentElement.clientWidth)",
  );

/** Waits until something holds. The pictures are made without a test runner, so they have no `expect.poll`. */
export async function until(holds: () => Promise<boolean> | boolean): Promise<void> {
  const giveUpAt = Date.now() + patience.timeout;
  while (!(await holds())) {
    if (Date.now() > giveUpAt) throw new Error(`It never came true: ${holds.toString()}`);
    await new Promise((resolve) => void setTimeout(resolve, 50));
  }
}
