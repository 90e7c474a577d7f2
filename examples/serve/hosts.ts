// One app in the web frameworks that people already use.

import { createServer } from "node:http";
import { createMcpHandler, McpServer } from "@modelcontextprotocol/server";
import express from "express";
import fastify from "fastify";
import { Hono } from "hono";
import type { App } from "mcp-parley";

export function withExpress(app: App) {
  // #region express
  const server = express();
  server.all("/mcp", (req, res) => app.node(req, res));
  // #endregion
  return createServer(server);
}

export function withFastify(app: App) {
  // #region fastify
  const server = fastify();
  server.all("/mcp", async (request, reply) => {
    reply.hijack();
    await app.node(Object.assign(request.raw, { body: request.body }), reply.raw);
  });
  // #endregion
  return server;
}

export function withHono(app: App) {
  // #region hono
  const server = new Hono();
  server.all("/mcp", (c) => app.fetch(c.req.raw));
  // #endregion
  return server;
}

export function withNodeHttp(app: App) {
  // #region node
  const server = createServer((req, res) => {
    if (req.url === "/mcp") void app.node(req, res);
    else res.writeHead(404).end();
  });
  // #endregion
  return server;
}

export function besideOwnTools(app: App) {
  // #region attach
  const handler = createMcpHandler(() => {
    const server = new McpServer({ name: "mine", version: "1.0.0" });
    server.registerTool("ping", {}, () => ({ content: [{ type: "text", text: "pong" }] }));
    return app.attach(server); // before it connects
  });
  // #endregion
  return handler;
}
