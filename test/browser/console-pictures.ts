// Writes pictures of every screen of the console to the folder `pictures`, to look at: `npm run console:pictures`. With
// `--readme`, it writes the two that the README shows, of a real app beside real replicas.

import { mkdirSync } from "node:fs";
import type { Page } from "playwright-core";
import { openBrowser } from "./chromium.ts";
import { bigTask, calls, openTask } from "./console-data.ts";
import { openDesk } from "./console-desk.ts";
import { takeForReadme } from "./console-readme.ts";
import { goTo, withPage } from "./console-tools.ts";

interface Picture {
  readonly place: string;
  /** What is done before the picture is taken. */
  readonly before?: (page: Page) => Promise<void>;
}

const pictures: Readonly<Record<string, Picture>> = {
  inbox: { place: "#/inbox" },
  "inbox-answering": {
    place: "#/inbox",
    before: async (page) => {
      await page.getByRole("button", { name: "Approve…" }).nth(1).click();
      await page.getByRole("button", { name: "Approve", exact: true }).click();
      await page.getByRole("button", { name: "Answer…" }).click();
      await page.getByRole("button", { name: "Send" }).click();
      await page.getByText("Please fill this in.").waitFor();
    },
  },
  tasks: { place: "#/tasks" },
  task: {
    place: `#/tasks/${openTask}`,
    before: (page) => page.getByRole("option", { name: "reserve-fun" }).click(),
  },
  "task-table": {
    place: `#/tasks/${openTask}`,
    before: (page) => page.getByRole("button", { name: "As a table" }).click(),
  },
  "task-cancelling": {
    place: `#/tasks/${openTask}`,
    before: (page) => page.getByRole("button", { name: "Cancel the task" }).click(),
  },
  "task-500": { place: `#/tasks/${bigTask}` },
  calls: { place: "#/calls" },
  call: {
    place: `#/calls/${calls[0].id}`,
    before: (page) => page.getByRole("option", { name: "sure" }).click(),
  },
  health: { place: "#/health" },
  try: {
    place: "#/try?tool=refund",
    before: async (page) => {
      await page.getByLabel("Order").fill("88213");
      await page.getByLabel("Damaged").check();
      await page.getByRole("button", { name: "Call", exact: true }).click();
      await page.getByRole("button", { name: "Tamper with the token" }).click();
      await page.getByText("The state of this call was changed.").waitFor();
      await page.getByRole("button", { name: "Replay this round" }).click();
      await page.getByText("Sent round 1 again").waitFor();
    },
  },
};

const heights: Readonly<Record<number, number>> = { 360: 780, 1024: 768, 1920: 1080 };
const browser = await openBrowser();

async function take(
  name: string,
  folder: string,
  width: number,
  height: number,
  colorScheme: "light" | "dark",
  isWhole: boolean,
): Promise<void> {
  const picture = pictures[name];
  if (picture === undefined) return;
  const desk = await openDesk();
  await withPage(browser, { colorScheme, viewport: { width, height } }, async (page) => {
    await goTo(page, desk.at, picture.place);
    await page.getByText("Live", { exact: true }).waitFor();
    await picture.before?.(page);
    // The page scrolls inside its frame where it is wide, so the window grows to show all of it.
    if (isWhole && width > 900) {
      const all = await page.evaluate("document.querySelector('main').scrollHeight + 41");
      await page.setViewportSize({ width, height: Math.max(height, Number(all)) });
    }
    await page.mouse.move(0, 0);
    await page.screenshot({ path: `${folder}/${name}.png`, fullPage: isWhole });
  });
  await desk.close();
}

if (process.argv.includes("--readme")) {
  mkdirSync("docs/pictures", { recursive: true });
  await takeForReadme(browser, "docs/pictures");
} else {
  for (const [width, height] of Object.entries(heights)) {
    for (const colorScheme of ["light", "dark"] as const) {
      const folder = `pictures/console/${width}-${colorScheme}`;
      mkdirSync(folder, { recursive: true });
      for (const name of Object.keys(pictures)) {
        await take(name, folder, Number(width), height, colorScheme, name !== "tasks");
      }
    }
  }
}
await browser.close();
