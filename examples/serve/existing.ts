// A server that was written with the official SDK for 2025-11-25, and an app that adopts its tool.

import { createMcpHandler, McpServer } from "@modelcontextprotocol/server";
import { parley } from "mcp-parley";
import { z } from "zod";

export function existing(send: (order: string) => Promise<string>) {
  // #region existing
  function register(server: McpServer): McpServer {
    const order = { description: "Order a dish", inputSchema: z.object({ dish: z.string() }) };
    server.registerTool("order", order, async ({ dish }) => {
      const answer = await server.server.elicitInput({
        message: `How many portions of ${dish}?`,
        requestedSchema: {
          type: "object",
          properties: { portions: { type: "integer", minimum: 1 } },
          required: ["portions"],
        },
      });
      if (answer.action !== "accept") return { content: [{ type: "text", text: "No order" }] };
      const { portions } = answer.content ?? {};
      const number = await send(`${String(portions)} × ${dish}`); // after the last question
      return { content: [{ type: "text", text: `Order ${number}` }] };
    });
    return server;
  }
  // #endregion
  const info = { name: "kitchen", version: "1.0.0" };
  return {
    inYourHandler: () => {
      // #region adopt
      const app = parley(info);
      const handler = createMcpHandler(() => {
        const server = register(new McpServer(info));
        return app.attach(server, { adopt: ["order"] });
      });
      // #endregion
      return { app, handler };
    },
    inTheApp: () => {
      // #region listen
      const app = parley(info);
      app.onServer((server) => app.attach(register(server), { adopt: ["order"] }));
      // #endregion
      return app;
    },
  };
}
