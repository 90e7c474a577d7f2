// The handler of test/reach with clients that others wrote, as they are without any settings: an asking tool that becomes a
// task ends in its result, and every result before says in words how to go on. Without relay, words say what is missing.

import { memoryStore, parley } from "mcp-parley";
import type { App } from "mcp-parley";
import { expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { keys, quiet } from "../interop/errands.ts";
import { followText } from "../reach/follows-text.ts";
import { deeds, outcome, tripApp } from "../reach/trip.ts";
import { openWorld } from "../reach/world.ts";
import { clients, driven, installed } from "./installed.ts";
import type { ThirdParty } from "./installed.ts";

async function started(client: ThirdParty, app: App) {
  const command = await installed(client);
  onTestFinished(() => app.close());
  const { url } = await app.listen(0);
  const { call, end } = driven(command, url);
  onTestFinished(end);
  return call;
}

test.for(clients)("$name brings a call to its end", async (client) => {
  const world = await openWorld();
  const app = tripApp(world.url, { store: memoryStore(), limits: { inlineMs: 500 } });
  const call = await started(client, app);
  const { text } = await followText(call, "book_trip", { who: "Ada" });
  expect(text).toBe(outcome);
  expect(world.done).toEqual(deeds);
});

test.for(clients)("$name says what is missing where relay is off", async (client) => {
  const app = parley({ name: "desk", version: "1.0.0", keys, logger: quiet, store: memoryStore() });
  app.tool("asks", {}, (ctx) => ctx.ask("name", "Who are you?"));
  app.tool("waits", { task: "optional" }, async (ctx) => {
    await ctx.waitFor("approval", z.boolean(), { notify: () => {} });
    return "approved";
  });
  const call = await started(client, app);
  const asked = (await call("asks", {})).join("\n");
  expect(asked).toContain('Question "name" of "asks" was not asked');
  expect(asked).toContain("Who are you?");
  const waited = (await call("waits", {})).join("\n");
  expect(waited).toContain(
    '"waits" cannot wait for "approval": this client does not support tasks.',
  );
});
