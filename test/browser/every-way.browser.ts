// The handler of test/reach through the App: a host on the official AppBridge, in a real browser. The secret and the wait go
// by pages, which no App may replace.

import { memoryStore } from "mcp-parley";
import { expect, onTestFinished, test } from "vitest";
import { own } from "../../src/util/objects.ts";
import { deeds, outcome, tripApp } from "../reach/trip.ts";
import { answersOn, openWorld } from "../reach/world.ts";
import { openHost } from "./app-host.ts";
import { openBrowser } from "./chromium.ts";

test.each([
  ["2025-11-25", { mode: "legacy" }],
  ["2026-07-28", { mode: { pin: "2026-07-28" } }],
] as const)(
  "a host of %s that renders MCP Apps comes to the same end",
  async (_era, negotiation) => {
    const world = await openWorld();
    const browser = await openBrowser();
    onTestFinished(() => browser.close());
    const app = tripApp(world.url, { store: memoryStore(), limits: { inlineMs: 100 } });
    const host = await openHost(browser, app, negotiation);
    onTestFinished(host.close);
    const form = await host.show("book_trip", { args: { who: "Ada" } });
    onTestFinished(form.close);
    await form.frame.getByLabel("To").fill("Oslo");
    await form.frame.getByLabel("Nights").fill("3");
    await form.frame.getByRole("button", { name: "Send" }).click();
    await form.frame.getByLabel("Window").check();
    await form.frame.getByRole("button", { name: "Send" }).click();
    // The App cannot ask for the card. It tells the model, which passes on the address of a page.
    await form.frame.getByRole("heading", { name: "Sent" }).waitFor();
    const [instruction = "", details = ""] = textsOf(form.contexts.at(-1));
    expect(instruction).toContain("Give them the address below");
    const [, handle] = /call continue_call with \{"call":"(\w+)"/.exec(instruction) ?? [];
    await answersOn(
      String(
        own(own(own(JSON.parse(details.replace("Details: ", "")), "questions"), "card"), "url"),
      ),
    );
    // The host shows the App with this result as well, because a question may come up after the page.
    const rest = await host.show("continue_call", { args: { call: handle } });
    onTestFinished(rest.close);
    await rest.frame.getByRole("heading", { name: "Pay for Ada?" }).waitFor();
    await rest.frame.getByRole("button", { name: "Yes" }).click();
    await rest.frame.getByRole("heading", { name: "Done" }).waitFor();
    expect(rest.contexts).toEqual([{ content: [{ type: "text", text: outcome }] }]);
    const last = await host.call("continue_call", { call: handle });
    expect(textsOf(last)).toEqual([outcome]);
    expect(world.done).toEqual(deeds);
  },
);

function textsOf(result: unknown): string[] {
  const content = own(result, "content");
  return Array.isArray(content) ? content.map((block) => String(own(block, "text"))) : [];
}
