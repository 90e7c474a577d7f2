// The same small app in every likely host: the client sees the same in each.

import { once } from "node:events";
import { createServer } from "node:http";
import type { RequestListener, Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { AuthInfo } from "@modelcontextprotocol/server";
import express from "express";
import fastify from "fastify";
import { Hono } from "hono";
import { describe, expect, onTestFinished, test } from "vitest";
import { connectV1, connectV2, legacy, modern } from "../interop/clients.ts";
import type { Connected, Place } from "../interop/clients.ts";
import { People } from "../interop/people.ts";
import { desk } from "./desk.ts";
import type { Desk } from "./desk.ts";
import { serve } from "./hono-node-server.ts";
import { invokedAsLambda } from "./lambda.ts";

interface Host {
  readonly name: string;
  /** The host ends with the test. */
  readonly serve: (desk: Desk) => Place | Promise<Place>;
  readonly principal?: string;
  /** A host that sends only whole responses cannot hold a session. */
  readonly isBuffered?: boolean;
}

const ada: AuthInfo = {
  token: "secret",
  clientId: "an-application",
  scopes: [],
  extra: { iss: "https://id.example", sub: "ada" },
};

const hosts: readonly Host[] = [
  {
    name: "app.fetch",
    serve: ({ app }) => ({
      url: "http://desk.example/mcp",
      fetch: (url, init) => app.fetch(new Request(url, init)),
    }),
  },
  {
    name: "app.handle, the caller verified by the host",
    serve: ({ app }) => ({
      url: "http://desk.example/mcp",
      fetch: (url, init) => app.handle(new Request(url, init), { authInfo: ada }),
    }),
    principal: "https://id.example ada",
  },
  {
    name: "app.handle, the body parsed by the host",
    serve: ({ app }) => ({
      url: "http://desk.example/mcp",
      fetch: async (url, init) => {
        const request = new Request(url, init);
        const parsedBody: unknown = request.body === null ? undefined : await request.json();
        const { method, headers, signal } = request;
        return app.handle(new Request(url, { method, headers, signal }), { parsedBody });
      },
    }),
  },
  { name: "app.listen", serve: async ({ app }) => ({ url: (await app.listen(0)).url }) },
  {
    name: "app.listen, over the SDK",
    serve: async ({ app }) => ({ url: (await app.listen(0, { fast: false })).url }),
  },
  {
    name: "node:http",
    serve: ({ app }) => listening(createServer((req, res) => void app.node(req, res))),
  },
  {
    name: "Express 5",
    serve: ({ app }) => inExpress(express().all("/mcp", (req, res) => app.node(req, res))),
  },
  {
    name: "Express 5 behind express.json()",
    serve: ({ app }) =>
      inExpress(
        express()
          .use(express.json())
          .all("/mcp", (req, res) => app.node(req, res)),
      ),
  },
  {
    name: "Express 5, the caller verified by middleware",
    serve: ({ app }) =>
      inExpress(
        express()
          .use((req, _res, next) => {
            Object.assign(req, { auth: ada });
            next();
          })
          .all("/mcp", (req, res) => app.node(req, res)),
      ),
    principal: "https://id.example ada",
  },
  {
    name: "Express 5, mounted with app.use",
    serve: ({ app }) => inExpress(express().use("/mcp", app.node)),
  },
  {
    name: "Fastify",
    serve: async ({ app }) => {
      const server = fastify();
      server.all("/mcp", async (request, reply) => {
        reply.hijack();
        await app.node(Object.assign(request.raw, { body: request.body }), reply.raw);
      });
      onTestFinished(() => server.close());
      return { url: `${await server.listen({ port: 0, host: "127.0.0.1" })}/mcp` };
    },
  },
  {
    name: "Hono on @hono/node-server",
    serve: async ({ app }) => {
      const hono = new Hono().all("/mcp", (c) => app.fetch(c.req.raw));
      const server = serve({ fetch: hono.fetch, port: 0, hostname: "127.0.0.1" });
      await once(server, "listening");
      onTestFinished(() => void server.close());
      return { url: urlOf(server.address() as AddressInfo) };
    },
  },
  {
    name: "a Lambda-style function",
    serve: ({ app }) => ({ url: "https://desk.example/mcp", fetch: invokedAsLambda(app) }),
    isBuffered: true,
  },
];

const inExpress = (app: RequestListener) => listening(createServer(app));

async function listening(server: Server): Promise<Place> {
  onTestFinished(() => void server.close());
  await once(server.listen(0, "127.0.0.1"), "listening");
  return { url: urlOf(server.address() as AddressInfo) };
}

const urlOf = ({ port }: AddressInfo) => `http://127.0.0.1:${port}/mcp`;

describe.each(hosts)("in $name", ({ serve: host, principal = "nobody", isBuffered = false }) => {
  /** Connects to the app in this host. Everything ends with the test. */
  async function at(
    connect: (place: Place, people: People) => Promise<Connected>,
  ): Promise<{ client: Connected; people: People; stamped: () => number }> {
    const served = desk();
    // Registered in this order because the callbacks run in reverse.
    onTestFinished(() => served.app.close());
    const place = await host(served);
    const people = new People();
    const client = await connect(place, people);
    onTestFinished(() => client.close());
    return { client, people, stamped: served.stamped };
  }

  test("a 2026-07-28 client is asked, and the body runs once", async () => {
    const { client, people, stamped } = await at((...to) => connectV2(...to, modern));
    expect(await client.tool("stamp", { page: "one" })).toMatchObject({
      text: "one stamped for Ada",
    });
    expect(people.shown).toEqual([{ kind: "form", message: "Your name?" }]);
    expect(stamped()).toBe(1);
  });

  test("the caller is the user that the host names", async () => {
    const { client } = await at((...to) => connectV2(...to, modern));
    expect(await client.tool("whoami")).toMatchObject({ text: principal });
  });

  if (isBuffered) return;

  test.each([
    ["v2", (...to: [Place, People]) => connectV2(...to, legacy)],
    ["v1", connectV1],
  ])("a 2025-11-25 session (%s client) is asked, and the body runs once", async (_, connect) => {
    const { client, people, stamped } = await at(connect);
    expect(await client.tool("stamp", { page: "two" })).toMatchObject({
      text: "two stamped for Ada",
    });
    expect(people.shown).toHaveLength(1);
    expect(stamped()).toBe(1);
  });
});

// Some hosts, such as Next.js, check the response then, and complain or freeze the process.
test("when the promise of app.node settles, the response has been sent", async () => {
  const { app } = desk();
  onTestFinished(() => app.close());
  const ended: boolean[] = [];
  const place = await listening(
    createServer(async (req, res) => {
      await app.node(req, res);
      ended.push(res.writableEnded);
    }),
  );
  const client = await connectV2(place, new People(), modern);
  onTestFinished(() => client.close());
  ended.splice(0);
  expect(await client.tool("whoami")).toMatchObject({ text: "nobody" });
  expect(ended).toEqual([true]);
});
