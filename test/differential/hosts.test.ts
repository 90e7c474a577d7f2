// The fast entry in hosts that have already processed a request: it serves what they hand over as the SDK does.

import { once } from "node:events";
import { createServer } from "node:http";
import type { RequestListener } from "node:http";
import { connect, createServer as createHttp2Server } from "node:http2";
import type { ClientHttp2Session, ClientHttp2Stream } from "node:http2";
import type { AddressInfo, Server } from "node:net";
import process from "node:process";
import { toNodeHandler } from "@modelcontextprotocol/node";
import { ProtocolError } from "@modelcontextprotocol/server";
import express from "express";
import fastify from "fastify";
import { describe, expect, onTestFinished, test } from "vitest";
import type { App } from "mcp-parley";
import { deferred } from "../wire/deferred.ts";
import { everything } from "./app.ts";
import { comparable, isFast } from "./compare.ts";
import { sent } from "./raw.ts";
import type { Came, Sent } from "./raw.ts";
import { draftOf, finished, tool } from "./requests.ts";
import type { Request } from "./requests.ts";

async function portOf(server: Server): Promise<number> {
  onTestFinished(() => void server.close());
  await once(server.listen(0, "127.0.0.1"), "listening");
  return (server.address() as AddressInfo).port;
}

const inExpress = (app: App, ...before: readonly express.RequestHandler[]): Promise<number> =>
  portOf(
    createServer(
      express()
        .disable("x-powered-by")
        .all("/mcp", ...before, app.node) as RequestListener,
    ),
  );

const hosts: readonly (readonly [name: string, serve: (app: App) => Promise<number>])[] = [
  ["node:http", (app) => portOf(createServer((req, res) => void app.node(req, res)))],
  ["Express", (app) => inExpress(app)],
  ["Express, the body parsed", (app) => inExpress(app, express.json())],
  [
    "Fastify, the body parsed",
    async (app) => {
      const server = fastify();
      server.all("/mcp", async (request, reply) => {
        reply.hijack();
        await app.node(Object.assign(request.raw, { body: request.body }), reply.raw);
      });
      onTestFinished(() => server.close());
      return Number(new URL(await server.listen({ port: 0, host: "127.0.0.1" })).port);
    },
  ],
];

/** The response of the SDK to the same request, which it reads itself. */
function overSdk(app: App): Promise<number> {
  const handle = toNodeHandler({ fetch: (request) => app.fetch(request) });
  return portOf(createServer((req, res) => void handle(req as Parameters<typeof handle>[0], res)));
}

const asking = tool("ask", { text: "a" });

const requests: readonly Request[] = [
  tool("echo", { text: "“é”" }),
  tool("echo", { text: 5 }),
  tool("progress", {}, { meta: { progressToken: 1 } }),
  asking,
  tool("nobody"),
  tool("full_bad_image"),
];

describe.each(hosts)("%s", (_, serve) => {
  test.each(requests)("serves $name $params.arguments as the SDK does", async (request) => {
    const app = everything();
    const bytes = finished(draftOf(request));
    const [here, there] = [await serve(app), await overSdk(app)];
    const [fast, sdk] = [await sent(here, bytes), await sent(there, bytes)];
    expect(comparable(fast)).toEqual(comparable(sdk));
    expect(fast).toMatchObject({ status: 200 });
  });

  test("uses the fast entry", async () => {
    const port = await serve(everything());
    expect(isFast(await sent(port, finished(draftOf(asking))))).toBe(true);
  });
});

test("the SDK refuses a body that the host has parsed into something else", async () => {
  const port = await inExpress(everything(), express.text({ type: () => true }));
  const came = await sent(port, finished(draftOf(asking)));
  expect(came).toMatchObject({ status: 400 });
  expect(isFast(came)).toBe(false);
});

test("a body that the host has consumed is refused, too", async () => {
  const port = await inExpress(everything(), (req, _res, next) => {
    req.resume().once("end", next);
  });
  const came = await sent(port, finished(draftOf(asking)));
  expect(came).toMatchObject({ status: 400, body: { error: { code: -32_700 } } });
});

describe("a request that would reject our promise gets a response, because a host need not await it", () => {
  const hostNames = ["[", "a b", "ada:secret@127.0.0.1", "127.0.0.1:99999", "1.2.3.4.5"];

  /** Another Host header, for a request that goes to the SDK. */
  function from(host: string, request: Request): Sent {
    const draft = draftOf(request);
    draft.headers = draft.headers.map(([name, value]) => [name, name === "host" ? host : value]);
    return finished(draft);
  }

  /** The response, and how the handler's promise settled. */
  async function served(app: App, request: Sent): Promise<readonly [Came | string, unknown]> {
    let outcome: Promise<unknown> = Promise.resolve("not asked");
    const port = await portOf(
      createServer((req, res) => {
        outcome = app.node(req, res).catch((error: unknown) => {
          res.destroy();
          return error;
        });
      }),
    );
    return [await sent(port, request), await outcome];
  }

  test.each(hostNames)("the Host “%s” gets a response", async (host) => {
    const app = everything();
    const port = await overSdk(app);
    for (const request of [tool("echo", { text: "a" }), tool("full_structured_list")]) {
      const [came, outcome] = await served(app, from(host, request));
      expect(outcome).toBeUndefined();
      expect(comparable(came)).toEqual(comparable(await sent(port, from(host, request))));
    }
  });

  test("an error whose data is not JSON gets a response", async () => {
    const app = everything();
    app.tool("big", {}, () => {
      throw new ProtocolError(7, "Too big", { n: 1n });
    });
    const [came, outcome] = await served(app, finished(draftOf(tool("big"))));
    expect(outcome).toBeUndefined();
    expect(came).toMatchObject({ status: 200, body: { id: 1, error: { code: 7 } } });
  });
});

describe("HTTP/2", () => {
  function clientOf(port: number): ClientHttp2Session {
    const client = connect(`http://127.0.0.1:${port}`);
    onTestFinished(() => client.destroy());
    return client;
  }

  function requested(
    client: ClientHttp2Session,
    request: Request,
    more: Readonly<Record<string, string>> = {},
  ): ClientHttp2Stream {
    const { headers, body } = finished(draftOf(request));
    const own = headers.filter(([name]) => name !== "host" && name !== "connection");
    const stream = client.request({
      ":method": "POST",
      ":path": "/mcp",
      ...Object.fromEntries(own),
      ...more,
    });
    return stream.end(body);
  }

  async function asked(port: number, ...what: [Request, Readonly<Record<string, string>>?]) {
    const stream = requested(clientOf(port), ...what);
    const [{ ":status": status, "content-length": length }] = await once(stream, "response");
    const chunks: Buffer[] = [];
    for await (const chunk of stream) chunks.push(chunk as Buffer);
    return { status, isFast: length !== undefined, text: Buffer.concat(chunks).toString() };
  }

  /** HTTP/2 requests and responses have the same interface as Node's others. */
  const over = (app: App) =>
    portOf(createHttp2Server(app.node as unknown as Parameters<typeof createHttp2Server>[1]));

  test("is served, and the handler does not see its pseudo headers", async () => {
    const app = everything();
    app.tool("headers_of", {}, ({ request }) => [...(request?.headers?.keys() ?? [])].join(" "));
    const { status, isFast: wasFast, text } = await asked(await over(app), tool("headers_of"));
    expect([status, wasFast]).toEqual([200, true]);
    expect(text).toContain('"accept content-type mcp-method mcp-name mcp-protocol-version"');
  });

  test("leaves an invalid authority to the SDK to refuse, as it would a Host", async () => {
    const port = await over(everything());
    const authority = { ":authority": "ada:secret@127.0.0.1" };
    const came = asked(port, tool("echo", { text: "a" }), authority);
    // From version 22 on, Node refuses it by itself.
    const isRefusedByNode = Number.parseInt(process.versions.node, 10) >= 22;
    if (isRefusedByNode) await expect(came).rejects.toThrow("NGHTTP2_PROTOCOL_ERROR");
    else expect(await came).toMatchObject({ status: 500, isFast: false });
  });

  test("can stream", async () => {
    const port = await over(everything());
    const { text } = await asked(port, tool("progress", {}, { meta: { progressToken: 1 } }));
    expect(text.match(/^event: message$/gm)).toHaveLength(5);
  });

  test("ends the calls of a client that disconnects", async () => {
    const app = everything();
    const running = deferred<AbortSignal>();
    app.tool("wait", {}, ({ signal }) => {
      running.resolve(signal);
      return new Promise(() => {});
    });
    const client = clientOf(await over(app));
    requested(client, tool("wait")).on("error", () => {});
    const ended = once(await running.promise, "abort");
    client.destroy();
    await ended;
  });

  test("passes to the SDK the requests that the SDK serves", async () => {
    const port = await over(everything());
    expect(await asked(port, tool("nobody"))).toMatchObject({ status: 200, isFast: false });
    // The SDK adds the text of structured content that is not an object.
    expect((await asked(port, tool("full_structured_list"))).text).toContain('"text":"[1,2]"');
  });
});
