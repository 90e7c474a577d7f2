// `parley console`: the console of a store, with and without the keys, for the person who runs it.

import { expect, onTestFinished, test, vi } from "vitest";
import { serve } from "../../src/cli/commands/console.ts";
import type { TaskDetails } from "../../src/console/wire.ts";
import type { TaskStore } from "../../src/tasks/store.ts";
import { keys } from "../interop/errands.ts";
import { consoleAt, opened } from "./opened.ts";
import { shop, waiting } from "./shop.ts";

/** Starts the command on the store of a shop, and follows the link that it prints. */
async function command(
  options: Pick<Parameters<typeof serve>[0], "keys" | "principal">,
  tool: "order" | "refund" | "pay" = "order",
) {
  const made = shop();
  const id = await waiting(made, await opened(made.app), tool);
  const printed: string[] = [];
  const said: string[] = [];
  const io = {
    out: (text: string) => void printed.push(text),
    err: (text: string) => void said.push(text),
  };
  const store = made.store as unknown as TaskStore;
  const served = await serve({ store, name: "shop", port: 0, ...options }, io);
  onTestFinished(() => served.close());
  const link = new URL(printed.join("").trim());
  const at = consoleAt(new URL("/", link).href);
  const secret = new URLSearchParams(link.hash.slice(1)).get("link");
  const { body } = await at.post("api/session", { link: secret });
  const headers = { "parley-session": (body as { session: string }).session };
  const get = async (path: string) => (await at.ask(path, { headers })).body;
  return { id, at, get, said: said.join(""), post: at.post, headers, printed, secret };
}

test("with the keys it shows what was sealed, and the operator can answer", async () => {
  const { id, at, get, post, headers } = await command({ keys: { text: String(keys) } });
  // There is no code to try here, so there are no screens for that.
  const session = { app: "shop", hasKeys: true, tools: [], isDevelopment: false };
  expect(await get("api/session")).toMatchObject(session);
  expect((await at.ask("api/calls", { headers })).status).toBe(404);
  expect(await get(`api/tasks/${id}`)).toMatchObject({
    task: { input: { item: "lamp" } },
    entries: [{}, {}, { key: "reserve", value: { reserved: "lamp" } }],
    mayRerun: false,
  });
  const answer = { task: id, key: "how", value: { way: "boat" } };
  const { body } = await post("api/answers", answer, undefined, headers);
  expect(body).toEqual({ status: "delivered" });
});

test("without the keys it shows status, tool, times and runs only", async () => {
  const { id, get, post, headers, said } = await command({});
  expect(said).toContain("There are no keys");
  expect(await get("api/session")).toMatchObject({ hasKeys: false });
  const task = await get(`api/tasks/${id}`);
  expect(task).toMatchObject({ task: { tool: "order" }, runs: [{ how: "parked" }] });
  expect(JSON.stringify(task)).not.toMatch(/lamp|reserve/);
  expect(JSON.stringify(await get("api/inbox"))).not.toContain("lamp");
  const answer = { task: id, key: "how", value: { way: "boat" } };
  expect((await post("api/answers", answer, undefined, headers)).status).toBe(403);
});

test("in production, too, it says what is missing without keys, and not how to start a server", async () => {
  vi.stubEnv("NODE_ENV", "production");
  onTestFinished(() => void vi.unstubAllEnvs());
  const { said, get } = await command({});
  expect(said).toMatch(
    /^There are no keys, so the console shows status, tool, times and runs only\./,
  );
  expect(said).not.toContain("parley({ keys })");
  expect(await get("api/session")).toMatchObject({ hasKeys: false });
});

test("without the keys it shows that there are records, and when and of which call", async () => {
  const { id, get } = await command({});
  const { task, audit } = (await get(`api/tasks/${id}`)) as TaskDetails;
  const sealed = {
    id: expect.any(String),
    at: expect.any(Number),
    action: "sealed",
    keyId: expect.any(String),
    callId: task.callId,
  };
  expect(audit).toEqual([sealed]);
  expect(await get("api/health")).toMatchObject({ audit: [sealed] });
  expect(await get("api/audit?after=0.0.")).toMatchObject({ records: [sealed] });
});

test("keys of another server open no record, and do not hide that there are some", async () => {
  const { get } = await command({ keys: { text: `other:${"k".repeat(43)}` } });
  expect(await get("api/health")).toMatchObject({ audit: [{ action: "sealed" }] });
});

test("without the keys no value can be delivered, because it would have to be sealed", async () => {
  const { id, get, post, headers } = await command({}, "pay");
  expect(await get("api/inbox")).toMatchObject({
    items: [{ kind: "wait", mayAnswer: false, whyNot: expect.stringContaining("keys") }],
  });
  const answer = { task: id, key: "sign", value: { ok: true } };
  expect((await post("api/answers", answer, undefined, headers)).status).toBe(403);
});

test("whoever runs it may act for clients, and a link that was used brings a new one", async () => {
  const { get, post, printed, secret } = await command({ keys: { text: String(keys) } });
  expect(await get("api/session")).toMatchObject({ may: "act_for_client", values: true });
  expect(printed).toHaveLength(1);
  expect((await post("api/session", { link: secret })).status).toBe(401);
  expect(printed).toHaveLength(2);
  expect(printed[1]).not.toBe(printed[0]);
});

test("whoever runs it decides about approvals if they say under which principal they call", async () => {
  const all = { text: String(keys) };
  const decide = async (principal: string | undefined) => {
    const { id, post, headers } = await command({ keys: all, principal }, "refund");
    return post("api/decisions", { task: id, key: "refund", approve: true }, undefined, headers);
  };
  const unknown = await decide(undefined);
  expect(unknown.status).toBe(403);
  expect(JSON.stringify(unknown.body)).toContain("--principal");
  // The caller is cleo.
  expect((await decide("cleo")).status).toBe(403);
  expect((await decide("bo")).body).toMatchObject({
    status: "counted",
    decisions: [{ who: "bo", via: "console" }],
  });
});
