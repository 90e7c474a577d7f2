// tmcp with its HTTP transport and zod, behind @hono/node-server. It responds to 2026-07-28 requests with a stream of events.
// Its state is plain JSON, and whatever comes before a question runs again in every round.

import { once } from "node:events";
import { z } from "zod";
import { serve } from "../../../test/hosts/hono-node-server.ts";
import { implementation, portOf } from "./opponent.ts";
import type { Start } from "./opponent.ts";
import { tmcp } from "./tmcp-packages.ts";
import type { TmcpServer } from "./tmcp-packages.ts";

const text = (value: string) => ({ content: [{ type: "text" as const, text: value }] });

function newServer(): TmcpServer {
  const server = new tmcp.McpServer(
    { ...implementation, description: "measured" },
    { adapter: new tmcp.ZodJsonSchemaAdapter(), capabilities: { tools: {} } },
  );
  const ask = async <S extends z.ZodType>(key: string, message: string, schema: S) => {
    const { action, content } = await server.elicitation(message, schema, { key });
    if (content === undefined) throw new Error(`"${key}" was answered with ${action}`);
    return content;
  };
  server.tool(
    { name: "echo", description: "", schema: z.object({ text: z.string() }) },
    async (given) => text(given.text),
  );
  server.tool(
    { name: "buy", description: "", schema: z.object({ item: z.string() }), replayable: true },
    async ({ item }) => {
      const price = 42;
      const { size } = await ask("size", "Which size?", z.object({ size: z.string() }));
      return text(`${item}, ${size}, for ${price}`);
    },
  );
  server.tool(
    { name: "count", description: "", schema: z.object({ rounds: z.int() }), replayable: true },
    async ({ rounds }) => {
      for (let at = 1; at < rounds; at += 1) {
        await ask(`q${at}`, "And now?", z.object({ value: z.string() }));
      }
      return text(`${rounds} rounds`);
    },
  );
  return server;
}

export const start: Start = async () => {
  const transport = new tmcp.HttpTransport(newServer(), { path: "/mcp" });
  const server = serve({
    fetch: async (request: Request) =>
      (await transport.respond(request)) ?? new Response(null, { status: 404 }),
    port: 0,
    hostname: "127.0.0.1",
  });
  if (!server.listening) await once(server, "listening");
  return { port: portOf(server) };
};
