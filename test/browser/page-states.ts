// Everything that a visitor of a page can see. The tests look at each with axe, and the pictures show them to people.

import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { until } from "./chromium.ts";
import { openDesk } from "./desk.ts";
import type { Desk } from "./desk.ts";

/** The servers whose pages are visited. */
export interface Desks {
  readonly desk: Desk;
  /** Asks who visits. The header "x-user" says it. */
  readonly guarded: Desk;
  readonly close: () => Promise<void>;
}

export async function openDesks(): Promise<Desks> {
  const desk = await openDesk();
  const guarded = await openDesk({
    pages: {
      authorize: ({ headers }) => {
        const principal = headers.get("x-user");
        return principal === null ? undefined : { principal };
      },
    },
  });
  return {
    desk,
    guarded,
    close: async () => {
      await desk.app.close();
      await guarded.app.close();
    },
  };
}

/** Visits a page until it is in this state. Works without scripts. */
export type Reach = (page: Page, desks: Desks) => Promise<void>;

const asks =
  (tool: string): Reach =>
  async (page, { desk }) => {
    await page.goto((await desk.ask(tool)).url);
    await page.getByRole("button").first().waitFor();
  };

/** Sends the form as it is. Browsers stop most mistakes, so their check is left out. */
async function sendUnchecked(page: Page): Promise<void> {
  await page.evaluate("document.querySelector('form').noValidate = true");
  await page.getByRole("button").first().click();
  await page.getByRole("alert").waitFor();
}

const isSaid = (page: Page, name: string) => page.getByRole("heading", { name }).waitFor();

export const pageStates: Readonly<Record<string, Reach>> = {
  form: asks("book"),
  confirmation: asks("erase"),
  sensitive: asks("key"),
  "sensitive-lines": asks("certificate"),
  "sensitive-form": asks("login"),
  long: asks("long"),
  "right-to-left": asks("arabic"),
  errors: async (page, desks) => {
    await asks("book")(page, desks);
    await page.getByLabel("Mail").fill("ada");
    await page.getByLabel("Guests").fill("99");
    await sendUnchecked(page);
  },
  "long-errors": async (page, desks) => {
    await asks("long")(page, desks);
    await sendUnchecked(page);
  },
  "right-to-left-errors": async (page, desks) => {
    await asks("arabic")(page, desks);
    await sendUnchecked(page);
  },
  about: async (page, { desk }) => void (await page.goto(await desk.wait("quote"))),
  json: async (page, { desk }) => {
    await page.goto(await desk.wait("tree"));
    await page.getByText("What is expected").click();
  },
  "json-error": async (page, { desk }) => {
    await page.goto(await desk.wait("tree"));
    await page.getByLabel("as JSON").fill("leaf");
    await sendUnchecked(page);
  },
  "json-unfit": async (page, { desk }) => {
    await page.goto(await desk.wait("tree"));
    await page.getByLabel("as JSON").fill('{"parts":[{"name":3}]}');
    await sendUnchecked(page);
  },
  saved: async (page, desks) => {
    await asks("erase")(page, desks);
    await page.getByRole("button", { name: "Yes" }).click();
    await isSaid(page, "Saved");
  },
  "saved-wait": async (page, { desk }) => {
    await page.goto(await desk.wait("quote"));
    await page.getByLabel("Price").fill("20");
    await page.getByRole("button", { name: "Send" }).click();
    await isSaid(page, "Saved");
  },
  answered: async (page, desks) => {
    await pageStates["saved"]?.(page, desks);
    await page.goto(page.url().replace("?saved", ""));
    await isSaid(page, "Already answered");
  },
  gone: async (page, { desk }) => {
    const { url } = await desk.ask("brief");
    await until(async () => (await fetch(url)).status === 410);
    await page.goto(url);
    await isSaid(page, "Too late");
  },
  broken: async (page, { desk }) => {
    const { url } = await desk.ask("erase");
    await page.goto(`${url}x`);
    await isSaid(page, "This link does not work");
  },
  refused: async (page, { guarded }) => {
    await page.goto((await guarded.ask("erase")).url);
    await isSaid(page, "You cannot see this page");
  },
  other: async (page, { guarded }) => {
    await page.setExtraHTTPHeaders({ "x-user": "eve" });
    await page.goto((await guarded.ask("erase")).url);
    await isSaid(page, "This question is for someone else");
  },
};

/** Runs something in a window of its own. */
export async function inPage<T>(
  browser: Browser,
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
