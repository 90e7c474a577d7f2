// The App in a real browser, in a host on the official AppBridge: the form is shown, filled in, and ends the call.

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { patience } from "../patience.ts";
import { openHost } from "./app-host.ts";
import type { AppHost, Shown } from "./app-host.ts";
import { openBrowser } from "./chromium.ts";

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

test("nothing scrolls sideways at 320 pixels", async () => {
  const { frame } = await shown("book", { width: 320 });
  await frame.getByLabel("Your name").waitFor();
  const wide = "document.documentElement.scrollWidth - document.documentElement.clientWidth";
  expect(await frame.evaluate(wide)).toBeLessThanOrEqual(0);
});

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

describe.each(["light", "dark"] as const)("in %s mode", (theme) => {
  test("axe finds nothing, and the host decides on the colours", async () => {
    const { frame } = await shown("book", { theme });
    await frame.getByLabel("Your name").waitFor();
    const ink = await frame.evaluate("getComputedStyle(document.body).color");
    expect(ink).toBe(theme === "dark" ? "rgb(230, 232, 235)" : "rgb(27, 31, 36)");
    await frame.getByRole("button", { name: "Send" }).click();
    await frame.getByRole("alert").waitFor();
    await frame.evaluate(axe);
    const found = "axe.run().then(({ violations }) => violations.map(({ id }) => id))";
    expect(await frame.evaluate(found)).toEqual([]);
  });
});
