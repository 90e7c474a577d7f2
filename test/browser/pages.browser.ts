// The pages in a real browser: with scripts off and on, by keyboard alone, on a narrow screen, in dark mode, with axe, and as
// other sites would use them.

import { createServer } from "node:http";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { patience } from "../patience.ts";
import { openBrowser, tooWide, violationsIn } from "./chromium.ts";
import { inPage, openDesks, pageStates } from "./page-states.ts";
import type { Desks } from "./page-states.ts";

let browser: Browser;
let desks: Desks;
beforeAll(async () => {
  browser = await openBrowser();
  desks = await openDesks();
});
afterAll(async () => {
  await browser?.close();
  await desks?.close();
});

const visit = <T>(options: BrowserContextOptions, use: (page: Page) => Promise<T>) =>
  inPage(browser, options, use);
const focused = (page: Page) => page.evaluate("document.activeElement.id");

describe.each([true, false])("with scripts: %s", (javaScriptEnabled) => {
  test("a form is filled in, sent and used by the call", async () => {
    const { desk } = desks;
    const { url, state } = await desk.ask("book");
    await visit({ javaScriptEnabled }, async (page) => {
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

  test("a mistake keeps what was filled in, and leads to the first field that is wrong", async () => {
    await visit({ javaScriptEnabled }, async (page) => {
      await pageStates["errors"]?.(page, desks);
      expect(await page.title()).toBe("Error: desk asks you a question");
      expect(await page.getByLabel("Mail").inputValue()).toBe("ada");
      await expect.poll(() => focused(page), patience).toBe("f0");
      await page.getByRole("link", { name: /Guests/ }).click();
      await expect.poll(() => focused(page), patience).toBe("f4");
    });
  });
});

describe("the keyboard alone", () => {
  test("answers a secret, from the first field to the button", async () => {
    const { url, state } = await desks.desk.ask("key");
    await visit({}, async (page) => {
      await page.goto(url);
      await page.keyboard.press("Tab");
      await page.keyboard.type("s3cret");
      await page.keyboard.press("Tab");
      expect(await page.evaluate("document.activeElement.textContent")).toBe("Send");
      await page.keyboard.press("Enter");
      await page.getByRole("heading", { name: "Saved" }).waitFor();
    });
    expect(await desks.desk.answered("key", state)).toBe("s3cret");
  });

  test("fills in a form with every kind of field", async () => {
    const { url, state } = await desks.desk.ask("book");
    await visit({ javaScriptEnabled: false }, async (page) => {
      await page.goto(url);
      const { keyboard } = page;
      await keyboard.press("Tab");
      await keyboard.type("Ada");
      // Mail, site, then the three parts of a date and its button.
      for (const _ of ["mail", "site", "month", "day", "year", "calendar"]) {
        await keyboard.press("Tab");
      }
      await keyboard.press("Tab");
      await keyboard.press("ArrowUp");
      await keyboard.press("Tab");
      await keyboard.press("Space");
      await keyboard.press("ArrowDown");
      await keyboard.press("Tab");
      await keyboard.type("FR");
      await keyboard.press("Tab");
      await keyboard.press("Space");
      for (const _ of ["breakfast", "remarks"]) await keyboard.press("Tab");
      await keyboard.type("None");
      await keyboard.press("Tab");
      await keyboard.press("Space");
      await keyboard.press("Tab");
      await keyboard.press("Enter");
      await page.getByRole("heading", { name: "Saved" }).waitFor();
    });
    expect(JSON.parse(await desks.desk.answered("book", state))).toEqual({
      name: "Ada",
      guests: 2,
      meal: "Pasta",
      country: "FR",
      extras: ["Parking"],
      remarks: "None",
      newsletter: false,
    });
  });

  test("declines", async () => {
    const { url, state } = await desks.desk.ask("erase");
    await visit({}, async (page) => {
      await page.goto(url);
      for (const _ of ["Yes", "No"]) await page.keyboard.press("Tab");
      await page.keyboard.press("Enter");
      await page.getByRole("heading", { name: "Saved" }).waitFor();
    });
    expect(await desks.desk.answered("erase", state)).toBe("false");
  });
});

describe("a secret", () => {
  test("is hidden, and not filled in by the browser", async () => {
    await visit({}, async (page) => {
      await pageStates["sensitive"]?.(page, desks);
      const field = page.getByLabel("Your answer");
      expect(await field.getAttribute("type")).toBe("password");
      expect(await field.getAttribute("autocomplete")).toBe("new-password");
      await pageStates["sensitive-lines"]?.(page, desks);
      const dots = "getComputedStyle(document.querySelector('textarea')).webkitTextSecurity";
      expect(await page.evaluate(dots)).toBe("disc");
    });
  });

  test("keeps its line breaks", async () => {
    const { url, state } = await desks.desk.ask("certificate");
    await visit({}, async (page) => {
      await page.goto(url);
      await page.getByLabel("Your answer").fill("---BEGIN---\nabc\n---END---");
      await page.getByRole("button", { name: "Send" }).click();
      await page.getByRole("heading", { name: "Saved" }).waitFor();
    });
    expect(await desks.desk.answered("certificate", state)).toBe("---BEGIN---\nabc\n---END---");
  });

  test("is not written back into the page after a mistake", async () => {
    await visit({}, async (page) => {
      await pageStates["sensitive-form"]?.(page, desks);
      await page.getByLabel("Password").fill("hunter");
      await page.evaluate("document.querySelector('form').noValidate = true");
      await page.getByRole("button", { name: "Send" }).click();
      await page.getByRole("alert").waitFor();
      expect(await page.content()).not.toContain("hunter");
    });
  });
});

/** A site of someone else. Browsers treat another port as another origin. */
async function otherSite(html: string): Promise<string> {
  const server = createServer((_request, response) => {
    response.setHeader("content-type", "text/html");
    response.end(html);
  });
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", () => resolve()));
  onTestFinished(() => void server.close());
  const address = server.address();
  return `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}/`;
}

/** Whether the question is still open. */
async function isOpen(url: string): Promise<boolean> {
  const text = await (await fetch(url)).text();
  return text.includes("<form");
}

describe("another site", () => {
  test("cannot show the page in a frame", async () => {
    const { url } = await desks.desk.ask("erase");
    const site = await otherSite(`<!doctype html><iframe src="${url}"></iframe>`);
    await visit({}, async (page) => {
      await page.goto(site);
      await expect.poll(() => page.frames().length, patience).toBe(2);
      const frame = page.frames()[1];
      await frame?.waitForLoadState().catch(() => {});
      expect(await frame?.content()).not.toContain("Erase the archive");
      // Nor can a page of the same server.
      expect((await fetch(url)).headers.get("content-security-policy")).toContain(
        "frame-ancestors 'none'",
      );
    });
  });

  test.each([
    ["a form", ""],
    ["a form that hides where it comes from", '<meta name="referrer" content="no-referrer">'],
  ])("cannot send %s", async (_what, head) => {
    const { url } = await desks.desk.ask("erase");
    const site = await otherSite(
      `<!doctype html>${head}<form method="post" action="${url}"><button name="action" value="accept">Win a prize</button></form>`,
    );
    await visit({}, async (page) => {
      await page.goto(site);
      const response = page.waitForResponse(url);
      await page.getByRole("button").click();
      expect((await response).status()).toBe(403);
    });
    expect(await isOpen(url)).toBe(true);
  });

  test("cannot send a form from a frame without an origin", async () => {
    const { url } = await desks.desk.ask("erase");
    const form = `<form method='post' action='${url}' target='_top'><button name='action' value='accept'>Go</button></form>`;
    const site = await otherSite(
      `<!doctype html><iframe sandbox="allow-forms allow-top-navigation" srcdoc="${form}"></iframe>`,
    );
    await visit({}, async (page) => {
      await page.goto(site);
      const response = page.waitForResponse(url);
      await page.frameLocator("iframe").getByRole("button").click();
      expect((await response).status()).toBe(403);
    });
    expect(await isOpen(url)).toBe(true);
  });

  test("cannot send or read with a script", async () => {
    const { url } = await desks.desk.ask("erase");
    const site = await otherSite("<!doctype html>");
    await visit({}, async (page) => {
      await page.goto(site);
      const sent = await page.evaluate(
        `fetch(${JSON.stringify(url)}, { method: "POST", body: new URLSearchParams({ action: "accept" }), mode: "no-cors", credentials: "include" }).then((it) => it.type, () => "refused")`,
      );
      expect(["opaque", "refused"]).toContain(sent);
      const read = await page.evaluate(
        `fetch(${JSON.stringify(url)}).then((it) => it.text(), () => "refused")`,
      );
      expect(read).toBe("refused");
    });
    expect(await isOpen(url)).toBe(true);
  });

  test("does not learn the address of the page from a link to it", async () => {
    const { url } = await desks.desk.ask("erase");
    await visit({}, async (page) => {
      const left: string[] = [];
      page.on("request", (request) => left.push(request.url()));
      await page.goto(url);
      // Nothing but the page itself is loaded.
      expect(left).toEqual([url]);
    });
    expect((await fetch(url)).headers.get("referrer-policy")).toBe("same-origin");
  });
});

test("a preview of the link changes nothing, and says no more than the page", async () => {
  const { url, state } = await desks.desk.ask("erase");
  const agents = ["Slackbot-LinkExpanding 1.0", "facebookexternalhit/1.1", "Twitterbot/1.0"];
  for (const agent of agents) {
    const headers = { "user-agent": agent };
    expect((await fetch(url, { method: "HEAD", headers })).status).toBe(200);
    const text = await (await fetch(url, { headers })).text();
    // Previews show the title. The question is for the person alone.
    expect(text).toContain("<title>desk asks you a question</title>");
    expect(text).not.toMatch(/og:|twitter:|name="description"/);
  }
  await visit({}, async (page) => {
    await page.goto(url);
    await page.getByRole("button", { name: "Yes" }).click();
    await page.getByRole("heading", { name: "Saved" }).waitFor();
  });
  expect(await desks.desk.answered("erase", state)).toBe("true");
});

describe.each(Object.entries(pageStates))("the page in the state %s", (_name, reach) => {
  test.each([
    { colorScheme: "light", viewport: { width: 320, height: 640 } },
    { colorScheme: "dark", viewport: { width: 800, height: 600 } },
  ] as const)("axe finds nothing, and nothing scrolls sideways: $colorScheme", async (look) => {
    // The page's policy forbids every script, so the browser is told to leave it aside.
    await visit({ ...look, bypassCSP: true }, async (page) => {
      await reach(page, desks);
      expect(await violationsIn(page)).toEqual([]);
      expect(await tooWide(page)).toBe(0);
    });
  });
});
