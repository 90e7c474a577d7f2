// Without the plug-in, no code of src/draft runs. This test replaces each module of src/draft with one that throws, and
// every entry, every era and our client still work. So the draft cannot change a byte for apps that do not use the
// plug-in.

import { connect } from "mcp-parley/client";
import type { ConnectOptions, Era } from "mcp-parley/client";
import { drafts } from "mcp-parley/drafts";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { oven } from "../wire/oven.ts";
import { till } from "../wire/till.ts";
import { postDraft } from "./peer.ts";

const { touched } = vi.hoisted(() => ({
  touched: () => {
    throw new Error("The draft was touched.");
  },
}));

vi.mock("../../src/draft/server.ts", () => ({ serveDraft: touched }));
vi.mock("../../src/draft/http.ts", () => ({ isDraftRequest: touched, serveDraftHttp: touched }));
vi.mock("../../src/draft/stdio.ts", () => ({ DraftTransport: touched }));
vi.mock("../../src/draft/offer.ts", () => ({ DraftOffer: touched }));
vi.mock("../../src/draft/client.ts", () => ({ DraftRequests: touched }));

const people: ConnectOptions = {
  elicit: ({ message }) => ({
    action: "accept",
    content: message.startsWith("Which crust") ? { crust: "thin" } : {},
  }),
};

describe.each<Era>(["2026-07-28", "2025-11-25"])("in %s", (era) => {
  test.each([true, false])("no draft code runs over HTTP (fast: %s)", async (fast) => {
    const [shop, bakery] = [till().app, oven().app];
    onTestFinished(() => Promise.all([shop.close(), bakery.close()]).then(() => {}));
    const [one, other] = await Promise.all([shop.listen(0, { fast }), bakery.listen(0, { fast })]);
    const calls = await connect(one.url, { ...people, era });
    expect((await calls.call("pay", { amount: 5 })).text).toBe("nobody paid 5");
    await calls.close();
    const tasks = await connect(other.url, { ...people, era });
    const { text } = await tasks.call("bake", { loaf: "rye" }, { task: true });
    expect(text).toBe("rye with a thin crust");
    await tasks.close();
  });
});

test("a client that wants the draft is served without draft code", async () => {
  const { app } = till();
  onTestFinished(() => app.close());
  const params = { protocolVersion: "2026-06-XX", capabilities: {} };
  const { status } = await postDraft(app, { jsonrpc: "2.0", id: 1, method: "initialize", params });
  expect(status).toBeLessThan(500);
});

test("with drafts, draft code runs, and the mock in its place throws", async () => {
  const { app } = till({ drafts: drafts() });
  onTestFinished(() => app.close());
  await expect(postDraft(app, { jsonrpc: "2.0", id: 1, method: "ping" })).rejects.toThrow(
    "The draft was touched.",
  );
});
