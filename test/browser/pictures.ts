// Writes pictures of everything that people can see to the folder `pictures`: `npm run pages:pictures`. With names, it writes
// only the states whose names contain one of them: `npm run pages:pictures -- errors`.

import { mkdirSync } from "node:fs";
import { openHost } from "./app-host.ts";
import { appStates } from "./app-states.ts";
import { openBrowser, until } from "./chromium.ts";
import { inPage, openDesks, pageStates } from "./page-states.ts";

const wanted = process.argv.slice(2);
const isWanted = (name: string) => wanted.length === 0 || wanted.some((one) => name.includes(one));

const looks = [
  { colorScheme: "light", viewport: { width: 320, height: 600 } },
  { colorScheme: "dark", viewport: { width: 800, height: 600 } },
] as const;

mkdirSync("pictures", { recursive: true });
const browser = await openBrowser();
const desks = await openDesks();
for (const [name, reach] of Object.entries(pageStates)) {
  if (!isWanted(`page-${name}`)) continue;
  for (const look of looks) {
    await inPage(browser, { ...look, javaScriptEnabled: false }, async (page) => {
      await reach(page, desks);
      const path = `pictures/page-${name}-${look.colorScheme}-${look.viewport.width}.png`;
      await page.screenshot({ path, fullPage: true });
    });
  }
}
const host = await openHost(browser);
for (const [name, reach] of Object.entries(appStates)) {
  if (!isWanted(`app-${name}`)) continue;
  for (const { colorScheme: theme, viewport } of looks) {
    const { width } = viewport;
    const { page, frame, close } = await reach(host, { theme, width });
    // The host gives the frame the height that the App asks for, a moment later.
    await until(() =>
      frame.evaluate("document.documentElement.scrollHeight <= window.innerHeight"),
    );
    await page.screenshot({ path: `pictures/app-${name}-${theme}-${width}.png`, fullPage: true });
    await close();
  }
}
await host.close();
await browser.close();
await desks.close();
