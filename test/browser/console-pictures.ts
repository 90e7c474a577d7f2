// Writes pictures of every screen of the console to the folder `pictures`, to look at: `npm run console:pictures`. Everything
// on them has happened: a real app, with real tasks on a real Postgres. With names, it writes only the pictures whose names
// contain one of them. With `--readme`, it writes the two that the README shows.

import { mkdirSync } from "node:fs";
import type { Operator } from "mcp-parley/console";
import type { Browser, Page } from "playwright-core";
import { openBrowser } from "./chromium.ts";
import { goTo, withPage } from "./console-tools.ts";
import { tellStory } from "./story.ts";
import type { Story } from "./story.ts";

interface Picture {
  readonly place: (tasks: Story["tasks"]) => string;
  readonly operator?: Operator;
  /** What is done before the picture is taken. */
  readonly before?: (page: Page, story: Story) => Promise<void>;
  /** What is done afterwards. */
  readonly after?: (story: Story) => Promise<void>;
}

const ada: Operator = {
  who: "ada",
  principal: "ada@example.com",
  groups: ["finance", "release"],
  may: "act",
  values: true,
};
const developer: Operator = { ...ada, may: "act_for_client" };
const viewer: Operator = { who: "vera", groups: [], may: "look" };

let deploys = 0;

const pictures: Readonly<Record<string, Picture>> = {
  inbox: { place: () => "#/inbox" },
  "inbox-answering": {
    place: () => "#/inbox",
    before: async (page, story) => {
      const version = `4.19.${deploys++}`;
      await story.deploy(version);
      const card = page.getByRole("article").filter({ hasText: version });
      await card.getByRole("button", { name: "Approve…" }).click();
      await card.getByRole("button", { name: "Approve", exact: true }).click();
      await card.getByText("Approved. The task goes on.").waitFor();
      await page.getByRole("button", { name: "Approve…" }).first().click();
      const badge = page.getByRole("article").filter({ hasText: "Mei Tanaka" });
      await badge.getByRole("button", { name: "Answer…" }).click();
      await badge.getByRole("button", { name: "Send" }).click();
      await page.getByText("Please fill this in.").waitFor();
    },
  },
  "inbox-by-group": {
    place: () => "#/inbox",
    before: (page) => page.getByText("Group", { exact: true }).first().click(),
  },
  "inbox-viewer": { place: () => "#/inbox", operator: viewer },
  tasks: { place: () => "#/tasks" },
  "tasks-none": { place: () => "#/tasks?tool=refnud" },
  task: {
    place: ({ refund }) => `#/tasks/${refund}`,
    before: (page) => page.getByRole("option", { name: /^reserve-/ }).click(),
  },
  "task-stuck": { place: ({ stuck }) => `#/tasks/${stuck}` },
  "task-undone": { place: ({ cancelled }) => `#/tasks/${cancelled}` },
  "task-viewer": { place: ({ refund }) => `#/tasks/${refund}`, operator: viewer },
  "task-table": {
    place: ({ refund }) => `#/tasks/${refund}`,
    before: (page) => page.getByRole("button", { name: "As a table" }).click(),
  },
  "task-cancelling": {
    place: ({ refund }) => `#/tasks/${refund}`,
    before: (page) => page.getByRole("button", { name: "Cancel the task" }).click(),
  },
  "task-500": { place: ({ large }) => `#/tasks/${large}` },
  calls: { place: () => "#/calls" },
  call: {
    place: () => "#/calls",
    before: async (page) => {
      await page
        .getByRole("row")
        .filter({ hasText: "Became a task" })
        .getByRole("link")
        .first()
        .click();
      await page.getByRole("option", { name: "how" }).click();
    },
  },
  health: { place: () => "#/health" },
  try: {
    place: () => "#/try?tool=refund",
    operator: developer,
    before: async (page) => {
      await page.getByLabel("Order").fill("88213");
      await page.getByLabel("Damaged").check();
      await page.getByRole("button", { name: "Call", exact: true }).click();
      await page.getByRole("button", { name: "Tamper with the token" }).click();
      await page.getByText("Refused", { exact: true }).waitFor();
      await page.getByRole("button", { name: "Replay this round" }).click();
      await page.getByText("Sent round 1 again").waitFor();
    },
  },
  "store-down": {
    place: () => "#/inbox",
    before: async (page, { postgres }) => {
      postgres.kill();
      await page.getByText("The store has not answered since").waitFor();
    },
    after: ({ postgres }) => postgres.restart(),
  },
};

const heights: Readonly<Record<number, number>> = { 360: 780, 1024: 768, 1920: 1080 };

interface Look {
  readonly width: number;
  readonly height?: number;
  readonly colorScheme: "light" | "dark";
  readonly folder: string;
}

async function take(
  browser: Browser,
  story: Story,
  name: string,
  { width, height = heights[width] ?? 800, colorScheme, folder }: Look,
): Promise<void> {
  const picture = pictures[name];
  if (picture === undefined) return;
  const { place, operator = ada, before, after } = picture;
  const extraHTTPHeaders = { "x-operator": JSON.stringify(operator) };
  mkdirSync(folder, { recursive: true });
  const options = { extraHTTPHeaders, colorScheme, viewport: { width, height } };
  await withPage(browser, options, async (page) => {
    await goTo(page, story.at, place(story.tasks));
    await page.getByText("Live", { exact: true }).waitFor();
    await page.locator("nav .badge").nth(1).waitFor();
    await before?.(page, story);
    // The window grows to show everything, but for a list, which has no end, and in the README.
    if (name !== "tasks" && heights[width] !== undefined) {
      const all = Number(await page.evaluate(wholeHeight));
      await page.setViewportSize({ width, height: Math.max(height, all) });
    }
    await page.mouse.move(0, 0);
    await page.screenshot({ path: `${folder}/${name}.png` });
  });
  await after?.(story);
}

/** The page scrolls inside its frame where it is wide. */
const wholeHeight =
  "innerWidth > 900 ? document.querySelector('main').scrollHeight + 41 : document.documentElement.scrollHeight";

const browser = await openBrowser();
const wanted = process.argv.slice(2);
const story = await tellStory();
try {
  if (wanted.includes("--readme")) {
    const folder = "docs/pictures";
    await take(browser, story, "inbox", { width: 1200, height: 640, colorScheme: "light", folder });
    await take(browser, story, "task", { width: 1400, height: 900, colorScheme: "dark", folder });
  } else {
    for (const width of Object.keys(heights).map(Number)) {
      for (const colorScheme of ["light", "dark"] as const) {
        const folder = `pictures/console/${width}-${colorScheme}`;
        for (const name of Object.keys(pictures)) {
          const isWanted = wanted.length === 0 || wanted.some((one) => name.includes(one));
          if (isWanted) await take(browser, story, name, { width, colorScheme, folder });
        }
      }
    }
  }
} finally {
  await story.close();
  await browser.close();
}
