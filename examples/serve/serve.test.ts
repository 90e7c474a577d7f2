// Every host of this folder, called by a client that answers.

import { once } from "node:events";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { App } from "mcp-parley";
import { connect } from "mcp-parley/client";
import { expect, onTestFinished, test } from "vitest";
import { greeter } from "./app.ts";
import { signedInApp } from "./auth.ts";
import { existing } from "./existing.ts";
import { besideOwnTools, withExpress, withFastify, withHono, withNodeHttp } from "./hosts.ts";
import worker from "./worker.ts";

const keys = `test:${"A".repeat(43)}`;

async function listening(server: Server): Promise<string> {
  await once(server.listen(0, "127.0.0.1"), "listening");
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
}

const elicit = () => ({ action: "accept" as const, content: { name: "Ada" } });

test.each<[string, (app: App) => Parameters<typeof connect>[0] | Promise<string>]>([
  ["Express", (app) => listening(withExpress(app))],
  ["node:http", (app) => listening(withNodeHttp(app))],
  [
    "Fastify",
    async (app) => {
      const server = withFastify(app);
      onTestFinished(() => server.close());
      return `${await server.listen({ port: 0, host: "127.0.0.1" })}/mcp`;
    },
  ],
  ["Hono", (app) => ({ fetch: async (request: Request) => withHono(app).fetch(request) })],
  [
    "an McpServer with its own tools",
    (app) => {
      const handler = besideOwnTools(app);
      return { fetch: (request: Request) => handler.fetch(request) };
    },
  ],
])("the app is served in %s", async (_, serve) => {
  process.env["PARLEY_KEYS"] = keys;
  onTestFinished(() => void delete process.env["PARLEY_KEYS"]);
  const app = greeter();
  onTestFinished(() => app.close());
  const server = await connect(await serve(app), { elicit });
  onTestFinished(() => server.close());
  expect((await server.call("greet")).text).toBe("Hello, Ada!");
});

test("the Worker takes an order", async () => {
  process.env["PARLEY_KEYS"] = keys;
  onTestFinished(() => void delete process.env["PARLEY_KEYS"]);
  const said = { kind: "rye", loaves: 3 };
  const server = await connect(worker, {
    elicit: ({ key }) => ({ action: "accept", content: { [key]: Reflect.get(said, key) } }),
  });
  onTestFinished(() => server.close());
  expect((await server.call("order_bread")).text).toMatch(/^3 × rye, order-./);
});

test("a caller is the user that the token names, and a request without a token is refused", async () => {
  process.env["PARLEY_KEYS"] = keys;
  onTestFinished(() => void delete process.env["PARLEY_KEYS"]);
  const expiresAt = Date.now() / 1_000 + 60;
  const app = signedInApp(async (token) =>
    token === "secret" ? { user: "ada", client: "an-agent", expiresAt } : undefined,
  );
  onTestFinished(() => app.close());
  const server = await connect(app, { headers: { authorization: "Bearer secret" } });
  onTestFinished(() => server.close());
  expect((await server.call("whoami")).text).toBe("You are ada.");
  await expect(connect(app)).rejects.toMatchObject({ name: "CallError", code: "refused" });
});

test("a tool of an existing server is adopted, in the author's handler and in the app", async () => {
  process.env["PARLEY_KEYS"] = keys;
  onTestFinished(() => void delete process.env["PARLEY_KEYS"]);
  const sent: string[] = [];
  const { inYourHandler, inTheApp } = existing(async (order) => String(sent.push(order)));
  const { app, handler } = inYourHandler();
  const own = inTheApp();
  onTestFinished(async () => void (await Promise.all([app.close(), own.close()])));
  const portions = () => ({ action: "accept" as const, content: { portions: 2 } });
  for (const place of [{ fetch: (request: Request) => handler.fetch(request) }, own]) {
    const server = await connect(place, { elicit: portions });
    onTestFinished(() => server.close());
    const { text } = await server.call("order", { dish: "soup" });
    expect(text).toBe(`Order ${sent.length}`);
  }
  expect(sent).toEqual(["2 × soup", "2 × soup"]);
});
