// The first generation of the SDK, stateless and with JSON responses: a server and a transport for every request, as its
// documentation recommends. It speaks 2025-11-25, which has no rounds.

import { createServer } from "node:http";
import type { IncomingMessage, ServerResponse } from "node:http";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import { z } from "zod";
import { implementation, listening } from "./opponent.ts";
import type { Start } from "./opponent.ts";

async function serve(req: IncomingMessage, res: ServerResponse): Promise<void> {
  const server = new McpServer(implementation);
  server.registerTool("echo", { inputSchema: { text: z.string() } }, async ({ text }) => ({
    content: [{ type: "text", text }],
  }));
  const transport = new StreamableHTTPServerTransport({ enableJsonResponse: true });
  res.on("close", () => void server.close());
  await server.connect(transport);
  await transport.handleRequest(req, res);
}

export const start: Start = async () => ({
  port: await listening(createServer((req, res) => void serve(req, res))),
});
