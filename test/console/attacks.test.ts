// Attacks on the console over HTTP: other sites, too little permission, hostile texts and bodies, and work before the door.

import { once } from "node:events";
import { request as httpRequest } from "node:http";
import type { IncomingMessage } from "node:http";
import { expect, onTestFinished, test, vi } from "vitest";
import { memoryStore, parley } from "mcp-parley";
import type { Operator } from "mcp-parley/console";
import { oauth } from "mcp-parley/oauth";
import { keys, quiet } from "../interop/errands.ts";
import { begun, until } from "../wire/task-calls.ts";
import { by, named } from "./callers.ts";
import { admin, byHeader, clerk, opened, viewer } from "./opened.ts";
import { shop, waiting } from "./shop.ts";

const reads = [
  "api/session",
  "api/inbox",
  "api/tasks",
  "api/tasks/none",
  "api/tasks/none/log",
  "api/health",
  "api/audit",
  "api/live",
];
const acts = ["api/answers", "api/decisions", "api/tasks/none/cancel", "api/tasks/none/rerun"];

/** A request with headers that fetch would not send. */
async function raw(url: string, headers: Record<string, string>, method = "GET", body?: string) {
  const request = httpRequest(url, { method, headers });
  request.end(body);
  const [response] = (await once(request, "response")) as [IncomingMessage];
  response.resume();
  return response.statusCode;
}

test("nothing is served without authorize, and nothing is done with too little permission", async () => {
  const made = shop();
  const at = await opened(made.app);
  for (const path of reads) expect([path, (await at.get(path)).status]).toEqual([path, 403]);
  for (const path of acts) {
    expect([path, (await at.post(path, {})).status]).toEqual([path, 403]);
    expect([path, (await at.post(path, {}, viewer)).status]).toEqual([path, 403]);
  }
  // A method that a route does not have.
  for (const method of ["PUT", "DELETE", "PATCH", "OPTIONS"]) {
    const headers = { "x-operator": JSON.stringify(admin) };
    expect((await at.ask("api/tasks", { method, headers })).status).toBe(405);
    expect((await at.ask("", { method, headers })).status).toBe(404);
  }
});

test("requests of other sites are refused, whatever credentials the browser adds", async () => {
  const made = shop();
  const at = await opened(made.app);
  const id = await waiting(made, at, "nap", {});
  const operator = JSON.stringify(admin);
  const json = { "content-type": "application/json", "x-operator": operator };
  const cancel = `${at.at}api/tasks/${id}/cancel`;
  const from = (headers: Record<string, string>) =>
    raw(cancel, { ...json, ...headers }, "POST", "{}");
  expect(await from({ "sec-fetch-site": "cross-site" })).toBe(403);
  expect(await from({ "sec-fetch-site": "same-site" })).toBe(403);
  expect(await from({ origin: "https://evil.example" })).toBe(403);
  expect(await from({ origin: "null" })).toBe(403);
  // Another server on this machine is another origin.
  expect(await from({ origin: "http://127.0.0.1:1" })).toBe(403);
  // A browser that names no origin is too old to be trusted with a cookie.
  expect(await from({ cookie: "session=1" })).toBe(403);
  // What a plain form can send.
  for (const type of ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data"]) {
    expect(await from({ "content-type": type, "sec-fetch-site": "same-origin" })).toBe(415);
  }
  expect(await raw(`${at.at}api/tasks`, { ...json, "sec-fetch-site": "cross-site" })).toBe(403);
  expect((await at.get(`api/tasks/${id}`, admin)).body).toMatchObject({
    task: { status: "working" },
  });
});

test("a name that points here by rebinding is refused", async () => {
  const made = shop();
  const at = await opened(made.app);
  const headers = { host: "rebound.example", "x-operator": JSON.stringify(admin) };
  for (const path of ["", "page.js", "api/session"]) {
    expect([path, await raw(at.at + path, headers)]).toEqual([path, 403]);
  }
});

const hostile = '</script><img src=x onerror="alert(1)">\u202E\u0000{{7*7}}';

test("texts that a client controls are data in JSON, and nothing else", async () => {
  const made = shop();
  const at = await opened(made.app);
  const id = await waiting(made, at, "order", { item: hostile });
  for (const path of [`api/tasks/${id}`, "api/inbox", "api/tasks"]) {
    const { headers, body } = await at.get(path, admin);
    expect(headers.get("content-type")).toBe("application/json; charset=utf-8");
    expect(headers.get("x-content-type-options")).toBe("nosniff");
    expect(headers.get("content-security-policy")).toContain("default-src 'none'");
    expect(headers.get("cache-control")).toBe("no-store");
    expect(body).toBeTypeOf("object");
  }
  expect((await at.get(`api/tasks/${id}`, admin)).body).toMatchObject({
    task: { input: { item: hostile } },
  });
});

test("hostile names of tasks, filters and pages find nothing and break nothing", async () => {
  const made = shop();
  const at = await opened(made.app);
  const names = [
    "..%2f..%2fetc",
    "%00",
    "%ff",
    "a".repeat(500),
    encodeURIComponent(hostile),
    "'%20or%201=1",
  ];
  for (const name of names) {
    expect([name, (await at.get(`api/tasks/${name}`, viewer)).status]).toEqual([name, 404]);
  }
  for (const query of ["status=x", "after=x", "limit=-1", "limit=1e9e"]) {
    expect([query, (await at.get(`api/tasks?${query}`, viewer)).status]).toEqual([query, 400]);
  }
  expect((await at.get("api/inbox?after=1.%25ff.x", viewer)).status).toBe(400);
  const tool = encodeURIComponent("x' or '1'='1\u0000");
  expect((await at.get(`api/tasks?tool=${tool}&principal=${tool}`, viewer)).body).toMatchObject({
    tasks: [],
  });
  expect((await at.get("api/tasks?limit=999999", viewer)).status).toBe(200);
});

test("malformed and huge bodies are refused", async () => {
  const made = shop();
  const at = await opened(made.app);
  const id = await waiting(made, at, "pay");
  const post = async (body: unknown) => (await at.post("api/answers", body, admin)).status;
  for (const body of ["", "{", "[]", "null", '"x"', '{"task":1}']) {
    expect([body, await post(body)]).toEqual([body, 400]);
  }
  const both = { task: id, key: "sign", value: { ok: true }, decline: true };
  expect(await post(both)).toBe(400);
  expect(await post({ task: id, key: "sign", value: "x".repeat(300_000) })).toBe(413);
  expect(await post(`{"a":${"[".repeat(100_000)}${"]".repeat(100_000)}}`)).toBe(400);
  const proto = '{"__proto__":{"task":"x"},"key":"sign","value":1}';
  expect(await post(proto)).toBe(400);
  expect(
    (await at.post("api/decisions", { task: id, key: "sign", approve: "yes" }, admin)).status,
  ).toBe(400);
  // An approval is not made of a wait.
  expect(
    (await at.post("api/decisions", { task: id, key: "sign", approve: true }, admin)).status,
  ).not.toBe(500);
  expect((await at.get(`api/tasks/${id}`, admin)).body).toMatchObject({
    task: { status: "working" },
  });
});

test("a stranger's request costs no look into the store, and its body is not read", async () => {
  const made = shop();
  const authorize = vi.fn<(request: Request) => Operator | undefined>(() => undefined);
  const at = await opened(made.app, { authorize });
  const looked: string[] = [];
  const store = made.store as unknown as Record<string, (...of: unknown[]) => unknown>;
  // The worker of the app uses others.
  for (const name of ["read", "readLog", "answer", "cancel"]) {
    const before = store[name];
    store[name] = (...of) => {
      looked.push(name);
      return before?.(...of);
    };
  }
  await Promise.all(reads.map((path) => at.get(path)));
  for (const path of acts) expect((await at.post(path, "x".repeat(50_000))).status).toBe(403);
  expect(looked).toEqual([]);
  // Other sites are refused before anyone is asked.
  const asked = authorize.mock.calls.length;
  await raw(`${at.at}api/tasks`, { "sec-fetch-site": "cross-site" });
  expect(authorize.mock.calls).toHaveLength(asked);
});

test("an operator cannot answer for a client, a group or a task that is not theirs to answer", async () => {
  const made = shop();
  const at = await opened(made.app, byHeader);
  const order = await waiting(made, at, "order");
  const refund = await waiting(made, at, "refund");
  const outsider: Operator = { who: "olga", groups: ["*", "Finance", "finance "], may: "act" };
  const answer = { task: order, key: "how", value: { way: "x" } };
  expect((await at.post("api/answers", answer, outsider)).status).toBe(403);
  expect(
    (await at.post("api/answers", { task: order, key: "how", decline: true }, clerk)).status,
  ).toBe(403);
  const decision = { task: refund, key: "refund", approve: true };
  expect((await at.post("api/decisions", decision, outsider)).status).toBe(403);
  expect((await at.get("api/inbox?group=finance", outsider)).body).toMatchObject({
    items: [{ mayAnswer: false }],
  });
  // Without values, someone who may not answer does not see the question either.
  expect(JSON.stringify((await at.get("api/inbox", outsider)).body)).not.toContain("lamp");
});

test("nobody enters a secret or signs in elsewhere in the place of a client", async () => {
  const github = oauth({ name: "github", issuer: "https://github.example.com", clientId: "id" });
  const app = parley({
    name: "shop",
    version: "1.0.0",
    keys,
    logger: quiet,
    store: memoryStore(),
    ...named,
    pages: { authorize: () => undefined },
    connections: [github],
  });
  app.tool("secret", { task: "required" }, async (ctx) => {
    await ctx.background();
    return ctx.ask("pin", "Your PIN?", undefined, { sensitive: true });
  });
  app.tool("link", { task: "required" }, async (ctx) => {
    await ctx.background();
    return (await ctx.connect(github)).provider;
  });
  const at = await opened(app);
  const ada = by("ada");
  for (const [tool, key, why] of [
    ["secret", "pin", "This is a secret. Only the person who is asked may enter it."],
    ["link", "github", "Only the person who is asked can sign in there."],
  ] as const) {
    const id = await begun(app, tool, {}, ada);
    await until(app, id, "input_required", ada);
    const { body } = await at.get(`api/inbox?tool=${tool}`, admin);
    expect(body).toMatchObject({ items: [{ key, mayAnswer: false, whyNot: why }] });
    for (const answer of [{ value: { [key]: "x" } }, { value: "x" }, { decline: true }]) {
      const sent = { task: id, key, ...answer };
      expect([answer, (await at.post("api/answers", sent, admin)).status]).toEqual([answer, 403]);
    }
    await until(app, id, "input_required", ada);
  }
});

test("one person cannot take all connections for live changes", async () => {
  const at = await opened(shop().app);
  const leaving: AbortController[] = [];
  const warned = vi.spyOn(process, "emitWarning").mockImplementation(() => {});
  onTestFinished(() => warned.mockRestore());
  const listen = async (operator: Operator) => {
    const headers = { "x-operator": JSON.stringify(operator) };
    const page = new AbortController();
    leaving.push(page);
    const { status } = await fetch(`${at.at}api/live`, { headers, signal: page.signal });
    return status;
  };
  const first = await Promise.all(Array.from({ length: 20 }, () => listen(viewer)));
  expect(new Set(first)).toEqual(new Set([200]));
  expect(await listen(viewer)).toBe(503);
  expect(await listen(admin)).toBe(200);
  expect(warned).not.toHaveBeenCalled();
  for (const page of leaving) page.abort();
});
