// What a Worker does whose questions people answer outside the client: paused calls, pages, decisions of a group, and values
// that a route of the Worker delivers.

import assert from "node:assert/strict";
import { setTimeout as pause } from "node:timers/promises";
import { TaskClient } from "../../../examples/task-client.ts";
import { chat, goesOn, handleIn, questionsIn } from "../../wire/model.ts";
import { accept, callTool, textIn, tokenIn } from "../../wire/post.ts";
import type { Answer, To } from "../../wire/post.ts";
import { tooLate } from "./flow.ts";
import type { Running } from "./flow.ts";

const patienceMs = 120_000;

/** Where the app says that its pages are. The Worker is on this machine. */
const publicOrigin = "https://cakes.example.com";

const bearer = (user: string) => ({ authorization: `Bearer ${user}` });

/** The Worker as a client of this user reaches it. */
const as =
  ({ url }: Running, user: string): To =>
  async (request) => {
    const headers = { ...Object.fromEntries(request.headers), ...bearer(user) };
    return fetch(new URL("/mcp", url), { method: "POST", headers, body: await request.text() });
  };

async function ask<T>({ url }: Running, path: string, query: Record<string, string>): Promise<T> {
  const asked = new URL(`/test/${path}`, url);
  for (const [name, value] of Object.entries(query)) asked.searchParams.set(name, value);
  const response = await fetch(asked);
  assert.equal(response.status, 200, `${path}: ${response.status}`);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what people-app.ts serves
  return (await response.json()) as T;
}

async function until<T>(what: string, found: () => Promise<T | undefined>): Promise<T> {
  const end = performance.now() + patienceMs;
  for (;;) {
    const value = await found();
    if (value !== undefined) return value;
    if (performance.now() > end) throw new Error(`It never happened that ${what}.`);
    await pause(50);
  }
}

// ---------------------------------------------------------------- pages

interface Shown {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

/** A page as a browser of this user gets it. */
async function visit(
  { url }: Running,
  address: string,
  user: string,
  init: RequestInit = {},
): Promise<Shown> {
  const { origin, pathname, search } = new URL(address);
  assert.equal(origin, publicOrigin);
  const headers = { ...Object.fromEntries(new Headers(init.headers)), ...bearer(user) };
  const at = new URL(pathname + search, url);
  const response = await fetch(at, { ...init, headers, redirect: "manual" });
  return { status: response.status, headers: response.headers, text: await response.text() };
}

/** Sends the form of a page. */
function send(
  running: Running,
  address: string,
  user: string,
  fields: Record<string, string>,
  origin = publicOrigin,
): Promise<Shown> {
  const body = new URLSearchParams({ action: "accept", ...fields });
  return visit(running, address, user, { method: "POST", body, headers: { origin } });
}

/** The address in what the model is told. */
function linkIn(paused: Answer, key: string): string {
  const { url } = questionsIn(paused)[key] ?? {};
  assert.ok(url !== undefined, `There is no page of "${key}": ${textIn(paused)}`);
  return url;
}

// ---------------------------------------------------------------- approvals and values

interface Sent {
  readonly ticket: string;
  readonly url: string;
}

/** Waits for what the handler sends about an order. */
const noticeOf = (running: Running, order: string, key: string): Promise<Sent> =>
  until(
    `the ticket of ${key} was sent`,
    async () => (await ask<Sent | null>(running, "notice", { of: `${order}/${key}` })) ?? undefined,
  );

interface Status {
  readonly status: string;
}

const decideAs = (
  { url }: Running,
  headers: Record<string, string>,
  decision: object,
): Promise<Response> =>
  fetch(new URL("/decide", url), { method: "POST", headers, body: JSON.stringify(decision) });

async function decide(running: Running, ticket: string, who: string, note = ""): Promise<string> {
  const response = await decideAs(running, bearer(who), { ticket, approve: true, note });
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what people-app.ts serves
  return ((await response.json()) as Status).status;
}

const deliver = (running: Running, ticket: string, price: number): Promise<Status> =>
  ask(running, "deliver", { ticket, price: String(price) });

/** The result of a call that needs no more answers. */
const resultOf = (to: To, call: string): Promise<string> =>
  until("the call ended", async () => {
    const text = textIn(await goesOn(to, { call }));
    return text.startsWith("Not finished") ? undefined : text;
  });

// ---------------------------------------------------------------- what is tried

const cases: Readonly<Record<string, (running: Running, user: string) => Promise<Running>>> = {
  "a paused call goes on with continue_call, and runs nothing twice": async (running, user) => {
    const to = as(running, user);
    const first = await callTool(to, "order_cake", {}, chat);
    const call = handleIn(first);
    assert.deepEqual(Object.keys(questionsIn(first)), ["flavour"]);
    const still = await goesOn(to, { call });
    assert.deepEqual([handleIn(still), questionsIn(still)], [call, questionsIn(first)]);
    assert.match(textIn(await goesOn(as(running, "eve"), { call })), /There is no such call/);
    const wrong = await goesOn(to, { call, answers: { flavour: "mud" } });
    assert.match(textIn(wrong), /The last answer did not fit/);
    const next = await goesOn(to, { call, answers: { flavour: "nut" } });
    const [cake = "no cake"] = /nut-[\w-]+/.exec(questionsIn(next)["text"]?.message ?? "") ?? [];
    const last = await goesOn(to, { call, answers: { text: "Hi" } });
    assert.equal(textIn(last), `${cake} says "Hi"`);
    assert.equal(textIn(await goesOn(to, { call, answers: { text: "Hi" } })), textIn(last));
    return running;
  },

  "a page takes an answer from its own form only, and once": async (running, user) => {
    const to = as(running, user);
    const first = await callTool(to, "save_card", {}, chat);
    const call = handleIn(first);
    const link = linkIn(first, "card");
    for (const method of ["GET", "HEAD", "GET"]) {
      assert.equal((await visit(running, link, user, { method })).status, 200);
    }
    const { headers, text } = await visit(running, link, user);
    assert.match(text, /The number of the card\?.*type="password"/s);
    assert.match(headers.get("content-security-policy") ?? "", /default-src 'none'/);
    assert.equal((await visit(running, `${link}x`, user)).status, 404);
    assert.equal((await visit(running, link, "eve")).status, 403);
    const foreign = await send(running, link, user, { "f.card": "6666" }, "https://evil.example");
    assert.deepEqual([foreign.status, /another site/.test(foreign.text)], [403, true]);
    assert.equal((await send(running, link, "eve", { "f.card": "6666" })).status, 403);
    assert.equal((await send(running, link, user, { "f.card": "1" })).status, 422);
    // Nothing of that was an answer.
    assert.equal(linkIn(await goesOn(to, { call }), "card"), link);
    const saved = await send(running, link, user, { "f.card": "12345" });
    assert.deepEqual([saved.status, saved.headers.get("location")], [303, `${link}?saved`]);
    assert.match((await visit(running, `${link}?saved`, user)).text, /Saved/);
    assert.match((await send(running, link, user, { "f.card": "6666" })).text, /Already answered/);
    assert.equal(textIn(await goesOn(to, { call })), "A card of 5 digits");
    return running;
  },

  "a client that opens pages goes on when its page has the answer": async (running, user) => {
    const able = { capabilities: { elicitation: { url: {} } } };
    const first = await callTool(as(running, user), "save_card", {}, able);
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it asks with a page
    const asked = first.result?.["inputRequests"] as
      | { card: { params: { url: string } } }
      | undefined;
    const { url = "no page" } = asked?.card.params ?? {};
    assert.equal((await send(running, url, user, { "f.card": "123456" })).status, 303);
    const round = { ...able, requestState: tokenIn(first), inputResponses: { card: accept() } };
    const last = await callTool(as(running, user), "save_card", {}, round);
    assert.equal(textIn(last), "A card of 6 digits");
    return running;
  },

  "a group decides with app.decide, and app.deliver brings a value": async (running, user) => {
    const order = `${user}-1`;
    const client = new TaskClient({
      url: new URL("/mcp", running.url).href,
      headers: bearer(user),
    });
    const { taskId = "" } = await client.start("refund", { order });
    const { ticket } = await noticeOf(running, order, "refund");
    assert.equal((await decideAs(running, {}, { ticket, approve: true })).status, 401);
    assert.equal(await decide(running, ticket, user), "not_allowed");
    assert.equal(await decide(running, ticket, "dee"), "not_allowed");
    assert.equal(await decide(running, ticket, "bo", "fine"), "counted");
    assert.equal(await decide(running, ticket, "bo"), "already_decided");
    assert.equal(await decide(running, ticket, "cy"), "approved");
    assert.equal(await decide(running, ticket, "cy"), "already_decided");
    const price = await noticeOf(running, order, "price");
    assert.equal((await deliver(running, price.ticket, 0)).status, "invalid");
    assert.deepEqual(await deliver(running, price.ticket, 7), { status: "delivered" });
    assert.deepEqual(await deliver(running, price.ticket, 9), { status: "already_answered" });
    const text = `7 to ${user} (bo delivery fine, cy delivery)`;
    assert.equal(await client.follow(taskId), text);
    assert.deepEqual(await deliver(running, price.ticket, 9), { status: "gone" });
    return running;
  },

  "a group decides on its page, for a client without tasks": async (running, user) => {
    const order = `${user}-2`;
    const to = as(running, user);
    const call = handleIn(await callTool(to, "refund", { order }, chat));
    const { url } = await noticeOf(running, order, "refund");
    assert.equal((await visit(running, url, user)).status, 403);
    assert.equal((await visit(running, url, "dee")).status, 403);
    for (const who of ["bo", "cy"]) {
      const { text } = await visit(running, url, who);
      const [, digest = ""] = /name="digest" value="([^"]+)"/.exec(text) ?? [];
      const foreign = await send(running, url, who, { digest }, "https://evil.example");
      assert.equal(foreign.status, 403);
      assert.equal((await send(running, url, who, { digest })).status, 303);
      assert.equal((await send(running, url, who, { digest })).status, 409);
    }
    const price = await noticeOf(running, order, "price");
    assert.match((await visit(running, price.url, "dee")).text, /<form/);
    assert.equal((await send(running, price.url, "dee", { "f.price": "8" })).status, 303);
    assert.equal(await resultOf(to, call), `8 to ${user} (bo link, cy link)`);
    return running;
  },

  "a paused call and the link of a page outlive the object": async (running, user) => {
    const [order, card] = await Promise.all(
      ["order_cake", "save_card"].map((tool) => callTool(as(running, user), tool, {}, chat)),
    );
    assert.ok(order !== undefined && card !== undefined);
    const link = linkIn(card, "card");
    const again = await running.restart();
    const to = as(again, user);
    assert.equal((await send(again, link, user, { "f.card": "1234" })).status, 303);
    assert.equal(textIn(await goesOn(to, { call: handleIn(card) })), "A card of 4 digits");
    const call = handleIn(order);
    await goesOn(to, { call, answers: { flavour: "lemon" } });
    assert.match(textIn(await goesOn(to, { call, answers: { text: "Hi" } })), /^lemon-[\w-]+ says/);
    return again;
  },
};

/** Runs the cases as this user. Returns the server as it is in the end. Throws if a case fails. */
export async function people(
  start: Running,
  user: string,
  say: (line: string) => void,
): Promise<Running> {
  let running = start;
  for (const [name, run] of Object.entries(cases)) {
    const late = new AbortController();
    running = await Promise.race([run(running, user), tooLate(late.signal)])
      .catch((cause: unknown) => {
        throw new Error(`Failed: ${name}.`, { cause });
      })
      .finally(() => late.abort());
    say(`  passed: ${name}`);
  }
  return running;
}

// ---------------------------------------------------------------- several objects

type Counts = Readonly<Record<"tasks" | "spills" | "audit", number>> | null;

/** What is in an object. */
const countsIn = (running: Running, object: string): Promise<Counts> =>
  ask(running, "counts", { object });

async function startedRefund(running: Running, user: string): Promise<Sent> {
  const order = `${user}-3`;
  await callTool(as(running, user), "refund", { order }, chat);
  return noticeOf(running, order, "refund");
}

/**
 * Runs the cases as users of two tenants, for whom people of other tenants decide. Throws if something is elsewhere than it
 * should be.
 */
export async function peopleOfTenants(start: Running, say: (line: string) => void): Promise<void> {
  let running = start;
  for (const user of ["ann", "zoe"]) running = await people(running, user, say);
  for (const user of ["ann", "zoe"]) {
    const { ticket } = await startedRefund(running, user);
    const call = await ask<string>(running, "call", { ticket });
    const own = await countsIn(running, call.replace(/^.*@/, "parley/"));
    assert.equal(own?.tasks, 3);
    assert.ok(own.spills > 0 && own.audit > 0, "paused calls and the audit are beside the tasks");
  }
  const main = await countsIn(running, "parley");
  assert.deepEqual([main?.tasks ?? 0, main?.spills ?? 0, main?.audit ?? 0], [0, 0, 0]);
  say("  passed: tasks, paused calls and the audit are in the object of their caller");
}
