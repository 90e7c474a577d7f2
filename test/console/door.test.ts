// Who gets into the console: nobody without `authorize`, and in development only who has the link, once.

import { createHash } from "node:crypto";
import { request as httpRequest } from "node:http";
import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import express from "express";
import { Hono } from "hono";
import { parley } from "mcp-parley";
import type { Logger } from "mcp-parley";
import { operatorConsole } from "mcp-parley/console";
import { expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { keys } from "../interop/errands.ts";
import { byHeader, consoleAt, linkLogger, opened, viewer } from "./opened.ts";

function tracker(options: { readonly logger?: Logger } = {}) {
  const app = parley({ name: "tracker", version: "1.2.3", keys, ...options });
  app.tool(
    "close",
    { description: "Closes it", inputSchema: z.object({ id: z.int() }) },
    async () => "closed",
  );
  return app;
}

/** A request with headers that fetch would not send. */
async function raw(url: string, headers: Record<string, string>, method = "GET") {
  const request = httpRequest(url, { method, headers });
  request.end(method === "POST" ? "{}" : undefined);
  const [response] = (await once(request, "response")) as [IncomingMessage];
  response.resume();
  return { status: response.statusCode, headers: response.headers };
}

/** The link's secret, and the console it leads to. */
const follow = (link: URL | undefined) => ({
  secret: new URLSearchParams(link?.hash.slice(1)).get("link") ?? "",
  at: consoleAt(new URL(link?.pathname ?? "", link).href),
});

test("it takes an app that parley() made, and nothing else", () => {
  // @ts-expect-error -- a plain object
  expect(() => operatorConsole({})).toThrow(
    new TypeError(
      "operatorConsole(app, { authorize }): the first argument is the app that parley() returned.",
    ),
  );
});

test("a console without authorize is not served to other machines", async () => {
  const app = tracker();
  await expect(
    app.listen(0, { host: "0.0.0.0", console: operatorConsole(app) }),
  ).rejects.toMatchObject({ code: "no_auth" });
});

test("with authorize, nobody else gets the page, its files or anything of the API", async () => {
  const { get } = await opened(tracker());
  for (const path of ["", "page.js", "page.css", "api/session", "api/nothing"]) {
    expect([path, (await get(path)).status]).toEqual([path, 403]);
  }
  const { body } = await get("api/session", viewer);
  expect(body).toMatchObject({
    app: "tracker",
    version: "1.2.3",
    who: "vi",
    may: "look",
    values: false,
    hasKeys: true,
    tools: [{ name: "close", description: "Closes it", hasTask: false }],
  });
});

test("what authorize returns is checked, and a slip opens nothing", async () => {
  const authorize = () => ({ who: "eve", may: "everything" });
  // @ts-expect-error -- not an operator
  const { get } = await opened(tracker({ logger: linkLogger().logger }), { authorize });
  expect((await get("api/session")).status).toBe(500);
  expect((await get("")).status).toBe(500);
});

test("authorize can send people to where they sign in, and tells scripts so", async () => {
  const authorize = () => new Response(null, { status: 302, headers: { location: "/login" } });
  const { get } = await opened(tracker(), { authorize });
  const page = await get("");
  expect([page.status, page.headers.get("location")]).toEqual([302, "/login"]);
  expect(await get("api/session")).toMatchObject({
    status: 401,
    body: { error: { code: "signed_out" } },
  });
});

test("the shell has a strict policy and names nothing of the app", async () => {
  const { get } = await opened(tracker());
  const { headers, body } = await get("", viewer);
  const policy = headers.get("content-security-policy") ?? "";
  expect(policy).toContain("default-src 'none'");
  expect(policy).toContain("frame-ancestors 'none'");
  expect(policy).not.toContain("unsafe");
  expect(body).not.toContain("tracker");
});

test("/console leads to /console/, where relative addresses work", async () => {
  const { at } = await opened(tracker());
  const { status, headers } = await raw(at.slice(0, -1), {});
  expect([status, headers.location]).toEqual([308, "/console/"]);
});

test("in development the printed link works once, and its session goes on", async () => {
  const { logger, links } = linkLogger();
  await opened(tracker({ logger }), null);
  const { secret, at } = follow(links[0]);
  expect((await at.get("")).status).toBe(200);
  expect(await at.get("api/session")).toMatchObject({
    status: 401,
    body: { error: { code: "signed_out" } },
  });
  const first = await at.post("api/session", { link: secret });
  expect(first.status).toBe(200);
  const { session } = first.body as { session: string };
  expect(await at.post("api/session", { link: secret })).toMatchObject({
    status: 401,
    body: { error: { code: "link_used" } },
  });
  const headers = { "parley-session": session };
  expect(await at.ask("api/session", { headers })).toMatchObject({
    status: 200,
    body: { who: "developer", may: "act_for_client", isDevelopment: true },
  });
  // The one who was refused can ask whoever sees the log for a new link, and more attempts print no more links.
  await at.post("api/session", { link: secret });
  expect(links).toHaveLength(2);
  const again = await at.post("api/session", { link: follow(links[1]).secret });
  expect(again.status).toBe(200);
});

test("in development a request for another host is refused", async () => {
  const { logger, links } = linkLogger();
  const app = tracker({ logger });
  const hono = new Hono();
  hono.mount("/console", operatorConsole(app));
  const at = (host: string, path: string) =>
    hono.request(path, { headers: { host, "sec-fetch-site": "same-origin" } });
  expect((await at("evil.example", "/console/")).status).toBe(403);
  expect((await at("evil.example:3000", "/console/api/session")).status).toBe(403);
  for (const host of [
    "localhost:99999",
    "localhost:x",
    "localhost@evil.example",
    "localhost:1@evil.example",
  ]) {
    for (const path of ["/console/", "/console/api/session"]) {
      const { status } = await at(host, path);
      expect([host, path, status]).toEqual([host, path, host.includes("@") ? 403 : 400]);
    }
  }
  expect((await at("127.0.0.1:3000", "/console/")).status).toBe(200);
  expect((await at("localhost:3000", "/console/api/session")).status).toBe(401);
  expect(links).toHaveLength(1);
});

test("Express mounts it, and gets the slash at the end", async () => {
  const server = express().use("/ops/console", operatorConsole(tracker(), byHeader).node).listen(0);
  onTestFinished(() => void server.close());
  await once(server, "listening");
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  const { status, headers } = await raw(`http://127.0.0.1:${port}/ops/console?tool=x`, {});
  expect(status).toBe(308);
  const to = new URL(headers.location ?? "", `http://127.0.0.1:${port}/ops/console`);
  expect(to.pathname + to.search).toBe("/ops/console/?tool=x");
  const { get } = consoleAt(to.origin + to.pathname);
  expect((await get("api/session", viewer)).status).toBe(200);
  expect((await get("api/session")).status).toBe(403);
});

test("whoever may not see the console gets a page with a style of its own, which the policy allows", async () => {
  const at = await opened(tracker());
  const { status, body, headers } = await at.get("");
  expect(status).toBe(403);
  expect(body).toContain("You may not see this console. Ask whoever runs the server.");
  const [, style = ""] = /<style>(.*)<\/style>/.exec(String(body)) ?? [];
  const hash = createHash("sha256").update(style).digest("base64");
  expect(style).not.toBe("");
  expect(headers.get("content-security-policy")).toContain(`style-src 'self' 'sha256-${hash}'`);
});
