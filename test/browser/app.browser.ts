// The App in a real browser, in a host on the official AppBridge: the form is shown, filled in, and ends the call.

import type { Browser } from "playwright-core";
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { patience } from "../patience.ts";
import { appDesk, openHost } from "./app-host.ts";
import type { AppHost, Shown } from "./app-host.ts";
import { appStates } from "./app-states.ts";
import { openBrowser, tooWide, violationsIn } from "./chromium.ts";

let browser: Browser;
let host: AppHost;
beforeAll(async () => {
  browser = await openBrowser();
  host = await openHost(browser);
});
beforeEach(() => void host.ran.splice(0));
afterAll(async () => {
  await browser?.close();
  await host?.close();
});

async function shown(...of: Parameters<AppHost["show"]>): Promise<Shown> {
  const seen = await host.show(...of);
  onTestFinished(seen.close);
  return seen;
}

test("a form is filled in, a confirmation given, and the model gets the result", async () => {
  const { frame, contexts, requested } = await shown("book");
  await frame.getByText("desk asks").waitFor();
  await frame.getByRole("button", { name: "Send" }).click();
  await frame.getByRole("alert").waitFor();
  expect(host.ran).toEqual([]);
  // The list of errors leads to the fields.
  await frame.getByRole("link", { name: /Your name/ }).click();
  expect(await frame.evaluate("document.activeElement.id")).toBe("q0-f0");
  await frame.getByLabel("Your name").fill("Ada");
  await frame.getByLabel("Guests").fill("3");
  await frame.getByLabel("Pasta").check();
  await frame.getByRole("button", { name: "Send" }).click();
  await frame.getByRole("heading", { name: "Pay 80 euros now?" }).waitFor();
  expect(contexts).toEqual([]);
  await frame.getByRole("button", { name: "Yes" }).click();
  await frame.getByRole("heading", { name: "Done" }).waitFor();
  const text = 'Booked: {"name":"Ada","guests":3,"meal":"Pasta"} true';
  expect(contexts).toEqual([{ content: [{ type: "text", text }] }]);
  expect(host.ran).toEqual(["hold Ada", "pay true"]);
  expect(requested.filter((url) => !url.startsWith("about:"))).toEqual([]);
});

test("the keyboard alone answers", async () => {
  const { page, frame } = await shown("trip");
  await frame.getByLabel("Your answer").focus();
  await page.keyboard.type("Oslo");
  await page.keyboard.press("Enter");
  await frame.getByRole("heading", { name: "Which seat?" }).waitFor();
  await page.keyboard.press("Tab");
  await page.keyboard.type("12A");
  await page.keyboard.press("Tab");
  expect(await frame.evaluate("document.activeElement.textContent")).toBe("Send");
  await page.keyboard.press("Enter");
  await frame.getByRole("heading", { name: "Done" }).waitFor();
});

test("a task goes on after the form, and its next question is shown", async () => {
  const { frame, contexts } = await shown("trip");
  await frame.getByLabel("Your answer").fill("Oslo");
  await frame.getByRole("button", { name: "Send" }).click();
  await frame.getByRole("heading", { name: "Which seat?" }).waitFor();
  await frame.getByLabel("Your answer").fill("12A");
  await frame.getByRole("button", { name: "Send" }).click();
  await frame.getByRole("heading", { name: "Done" }).waitFor();
  expect(contexts).toEqual([{ content: [{ type: "text", text: "Oslo 12A" }] }]);
});

test("declining ends the call, and the model learns it", async () => {
  const { frame, contexts } = await shown("book");
  await frame.getByRole("button", { name: "Decline" }).click();
  await frame.getByRole("heading", { name: "The call has ended" }).waitFor();
  expect(contexts).toMatchObject([{ content: [{ text: 'Question "booking" was declined.' }] }]);
});

test("nothing is shown where nothing is asked", async () => {
  const { frame, heights } = await shown("plain");
  await expect.poll(() => heights.at(-1), patience).toBe(0);
  expect(await frame.evaluate("document.body.innerText.trim()")).toBe("");
});

test("an old conversation shows no question that has been answered since", async () => {
  const result = await host.call("book");
  const first = await shown("book", { result });
  await first.frame.getByRole("button", { name: "Decline" }).click();
  await first.frame.getByRole("heading", { name: "The call has ended" }).waitFor();
  const second = await shown("book", { result });
  // The App has asked how the call stands, and shows nothing.
  await expect.poll(() => second.called, patience).toEqual(["answer_call"]);
  expect(await second.frame.evaluate("document.body.innerText.trim()")).toBe("");
  expect(second.contexts).toEqual([]);
});

test("all open questions are shown, and each is sent by itself", async () => {
  const { frame, contexts } = await shown("both");
  const from = frame.locator("section", { hasText: "Where from?" });
  const to = frame.locator("section", { hasText: "Where to?" });
  await from.getByLabel("Your answer").fill("Rome");
  await to.getByLabel("Your answer").fill("Oslo");
  await from.getByRole("button", { name: "Send" }).click();
  await from.waitFor({ state: "detached" });
  expect(contexts).toEqual([]);
  // What was filled in elsewhere is still there.
  expect(await to.getByLabel("Your answer").inputValue()).toBe("Oslo");
  await to.getByRole("button", { name: "Send" }).click();
  await frame.getByRole("heading", { name: "Done" }).waitFor();
  expect(contexts).toEqual([{ content: [{ type: "text", text: "Rome to Oslo" }] }]);
});

test("an error in one form leaves the other alone", async () => {
  const { frame } = await shown("both");
  const to = frame.locator("section", { hasText: "Where to?" });
  await frame.locator("section", { hasText: "Where from?" }).getByLabel("Your answer").fill("Rome");
  await to.getByLabel("Your answer").fill("Os");
  await to.getByRole("button", { name: "Send" }).click();
  await to.getByRole("alert").waitFor();
  expect(await frame.getByRole("alert").count()).toBe(1);
  expect(await frame.evaluate("document.activeElement.id")).toBe("q1-f0");
  expect(await frame.getByLabel("Your answer").first().inputValue()).toBe("Rome");
});

test("its frame grows with the errors, and shrinks once they are mended", async () => {
  const { page, frame } = await shown("both", { width: 320 });
  const hidden = () =>
    frame.evaluate<number>("document.documentElement.scrollHeight - window.innerHeight");
  const height = () => page.evaluate<number>("document.querySelector('iframe').clientHeight");
  await frame.getByRole("button", { name: "Send" }).first().waitFor();
  await expect.poll(hidden, patience).toBeLessThanOrEqual(0);
  const before = await height();
  await frame.getByRole("button", { name: "Send" }).first().click();
  await frame.getByRole("button", { name: "Send" }).last().click();
  await expect.poll(() => frame.getByRole("alert").count(), patience).toBe(2);
  await expect.poll(height, patience).toBeGreaterThan(before + 100);
  await expect.poll(hidden, patience).toBeLessThanOrEqual(0);
  const grown = await height();
  await frame.getByLabel("Your answer").first().fill("Rome");
  await frame.getByRole("button", { name: "Send" }).first().click();
  await expect.poll(() => frame.getByRole("alert").count(), patience).toBe(1);
  await expect.poll(height, patience).toBeLessThan(grown - 100);
});

test("an answer that the handler refuses is asked for again", async () => {
  const { frame, contexts } = await shown("even");
  await frame.getByLabel("Your answer").fill("3");
  await frame.getByRole("button", { name: "Send" }).click();
  await frame.getByText("be even").waitFor();
  expect(await frame.getByLabel("Your answer").inputValue()).toBe("3");
  await frame.getByLabel("Your answer").fill("4");
  await frame.getByRole("button", { name: "Send" }).click();
  await frame.getByRole("heading", { name: "Done" }).waitFor();
  expect(contexts).toEqual([{ content: [{ type: "text", text: "4" }] }]);
});

test("a secret is not for the App: the model learns where its page is", async () => {
  const { frame, contexts } = await shown("login");
  await frame.getByLabel("Your answer").fill("Ada");
  expect(await frame.getByText("Your password?").count()).toBe(0);
  await frame.getByRole("button", { name: "Send" }).click();
  await frame.getByRole("heading", { name: "Sent" }).waitFor();
  expect(JSON.stringify(contexts)).toContain("/ask/");
});

describe("the focus", () => {
  test("is not taken from the chat when the App appears", async () => {
    const { page, frame } = await shown("book");
    await frame.getByLabel("Your name").waitFor();
    expect(await frame.evaluate("document.activeElement.tagName")).toBe("BODY");
    expect(await page.evaluate("document.activeElement.tagName")).toBe("BODY");
  });

  test("goes on with the next question", async () => {
    const { page, frame } = await shown("book");
    await frame.getByLabel("Your name").fill("Ada");
    await frame.getByLabel("Pasta").check();
    await frame.getByRole("button", { name: "Send" }).focus();
    await page.keyboard.press("Enter");
    await frame.getByRole("heading", { name: "Pay 80 euros now?" }).waitFor();
    expect(await frame.evaluate("document.activeElement.textContent")).toBe("Pay 80 euros now?");
  });
});

describe("a host", () => {
  test("that refuses to send leaves the form as it is", async () => {
    const { frame, contexts } = await shown("trip", { calls: "refuse" });
    await frame.getByLabel("Your answer").fill("Oslo");
    await frame.getByRole("button", { name: "Send" }).click();
    await frame.getByText("Your answer could not be sent.").waitFor();
    expect(await frame.getByLabel("Your answer").inputValue()).toBe("Oslo");
    expect(contexts).toEqual([]);
  });

  test("that does not answer is not waited for forever", async () => {
    const { page, frame } = await shown("trip", { calls: "ignore", hasOwnClock: true });
    // The App asks how the call stands, gives up after a while, and shows the question.
    await expect
      .poll(async () => {
        await page.clock.fastForward(6_000);
        return frame.getByLabel("Your answer").count();
      }, patience)
      .toBe(1);
    await frame.getByLabel("Your answer").fill("Oslo");
    await frame.getByRole("button", { name: "Send" }).click();
    await frame.getByText("Sending your answer.").waitFor();
    await page.clock.fastForward(130_000);
    await frame.getByText("Your answer could not be sent.").waitFor();
  });

  test("that passes nothing on to the model gets to the end as well", async () => {
    const { frame, contexts } = await shown("even", { isDeaf: true });
    await frame.getByLabel("Your answer").fill("4");
    await frame.getByRole("button", { name: "Send" }).click();
    await frame.getByRole("heading", { name: "Done" }).waitFor();
    await frame.getByText("Go back to the chat and say that you are done.").waitFor();
    expect(contexts).toEqual([]);
  });

  test("decides on colours and font, and may change them", async () => {
    const first = { "--color-text-primary": "rgb(1, 2, 3)", "--font-sans": "Georgia" };
    const { page, frame } = await shown("trip", { variables: first });
    await frame.getByLabel("Your answer").waitFor();
    const look = () =>
      frame.evaluate(
        "(({ color, fontFamily }) => [color, fontFamily])(getComputedStyle(document.body))",
      );
    expect(await look()).toEqual(["rgb(1, 2, 3)", "Georgia"]);
    const next = { theme: "dark", variables: { "--color-text-primary": "rgb(250, 250, 250)" } };
    await page.evaluate(`dressApp(${JSON.stringify(next)})`);
    await expect.poll(look, patience).toEqual(["rgb(250, 250, 250)", "Georgia"]);
    expect(await frame.evaluate("document.documentElement.className")).toBe("dark");
  });
});

test("a question whose time is up says so", async () => {
  const brief = await openHost(browser, appDesk([], { pauseMs: 2_000 }));
  onTestFinished(brief.close);
  const { page, frame } = await brief.show("trip", { hasOwnClock: true });
  await frame.getByLabel("Your answer").waitFor();
  // The server has its own clock, so the App may have to ask it more than once.
  await expect
    .poll(async () => {
      await page.clock.fastForward(120_000);
      return frame.getByRole("heading", { name: "The call has ended" }).count();
    }, patience)
    .toBe(1);
});

describe.each(Object.entries(appStates))("the App in the state %s", (_name, reach) => {
  test.each([
    { theme: "light", width: 320 },
    { theme: "dark", width: 800 },
  ] as const)("axe finds nothing, and nothing scrolls sideways: $theme", async (look) => {
    const { frame, close } = await reach(host, look);
    onTestFinished(close);
    expect(await violationsIn(frame)).toEqual([]);
    expect(await tooWide(frame)).toBe(0);
  });
});
