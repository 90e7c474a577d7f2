// Writes pictures of the pages and of the App to the folder `pictures`, to look at: `npm run pages:pictures`.

import { mkdirSync } from "node:fs";
import { openHost } from "./app-host.ts";
import { openBrowser, serve } from "./chromium.ts";

mkdirSync("pictures", { recursive: true });
const browser = await openBrowser();
const desk = await serve();
for (const tool of ["book", "erase", "key"]) {
  for (const colorScheme of ["light", "dark"] as const) {
    for (const width of [320, 800]) {
      const { url } = await desk.ask(tool);
      const context = await browser.newContext({ colorScheme, viewport: { width, height: 700 } });
      const page = await context.newPage();
      await page.goto(url);
      if (tool === "book" && width === 320) {
        await page.evaluate("document.querySelector('form').noValidate = true");
        await page.getByRole("button", { name: "Send" }).click();
      }
      await page.screenshot({
        path: `pictures/${tool}-${colorScheme}-${width}.png`,
        fullPage: true,
      });
      await context.close();
    }
  }
}
const host = await openHost(browser);
for (const theme of ["light", "dark"] as const) {
  for (const width of [320, 800]) {
    const { page, frame, close } = await host.show("book", { theme, width });
    await frame.getByLabel("Your name").waitFor();
    if (width === 320) {
      await frame.getByRole("button", { name: "Send" }).click();
      await frame.getByRole("alert").waitFor();
    }
    await page.screenshot({ path: `pictures/app-${theme}-${width}.png`, fullPage: true });
    await close();
  }
}
await host.close();
await browser.close();
await desk.app.close();
