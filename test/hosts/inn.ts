// A plain server of the official SDK, written for 2025-11-25: its tools ask in every way that the SDK has.

import { McpServer, ProtocolError, inputRequired } from "@modelcontextprotocol/server";
import type { CallToolResult, ServerContext } from "@modelcontextprotocol/server";
import { z } from "zod";

/** What the tools did, over all servers that were made. */
export interface Inn {
  readonly did: string[];
  readonly server: () => McpServer;
  /** Registers the tools on another server. */
  readonly register: (server: McpServer) => McpServer;
}

const text = (said: string): CallToolResult => ({ content: [{ type: "text", text: said }] });

/** A schema that changes its value, so that the tool gets something other than what was sent. */
export const nightSchema = z.object({
  night: z.string().transform((night) => night.toUpperCase()),
});

const nameForm = {
  type: "object" as const,
  properties: { name: { type: "string" as const, minLength: 1 } },
  required: ["name"],
};

export function inn(): Inn {
  const did: string[] = [];
  const register = (made: McpServer): McpServer => {
    const { server: protocol } = made;

    // Asks through the server, the request's context and plain requests, one kind of question after the other.
    made.registerTool("book", { inputSchema: nightSchema }, async ({ night }, ctx) => {
      did.push("began");
      const guest = await protocol.elicitInput({ message: "Name?", requestedSchema: nameForm });
      if (guest.action !== "accept") return text(`not booked: ${guest.action}`);
      const page = await ctx.mcpReq.elicitInput({
        mode: "url",
        message: "Pay here",
        url: "https://pay.example/",
        elicitationId: "pay-1",
      });
      const wish = await ctx.mcpReq.requestSampling({
        messages: [{ role: "user", content: { type: "text", text: "greet" } }],
        maxTokens: 20,
      });
      const { roots } = await protocol.listRoots();
      did.push("booked");
      const greeting = Array.isArray(wish.content) ? wish.content[0] : wish.content;
      const said = greeting?.type === "text" ? greeting.text : "nothing";
      return text(
        `${night}: ${String(guest.content?.["name"])}, ${page.action}, ${said}, ${roots[0]?.uri}`,
      );
    });

    // Two questions at the same time.
    made.registerTool("pair", {}, async (ctx: ServerContext) => {
      did.push("began");
      const [name, mood] = await Promise.all([
        ctx.mcpReq.elicitInput({ message: "Name?", requestedSchema: nameForm }),
        ctx.mcpReq.send({
          method: "elicitation/create",
          params: {
            mode: "form",
            message: "Which mood?",
            // A keyword that the forms of `ctx.ask` do not use.
            requestedSchema: {
              type: "object",
              properties: { mood: { type: "string", pattern: "^g" } as { type: "string" } },
              required: ["mood"],
            },
          },
        }),
      ]);
      return text(`${String(name.content?.["name"])} is ${String(mood.content?.["mood"])}`);
    });

    // A question that depends on how often the tool has run.
    made.registerTool("restless", {}, async (ctx: ServerContext) => {
      did.push("began");
      const answer = await ctx.mcpReq.elicitInput({
        message: `Number ${did.length}?`,
        requestedSchema: { type: "object", properties: {} },
      });
      return text(answer.action);
    });

    made.registerTool("silent", {}, () => {
      did.push("began");
      return text("no question");
    });

    made.registerTool(
      "fails",
      { inputSchema: z.object({ how: z.string() }) },
      async ({ how }, ctx) => {
        if (how === "protocol") throw new ProtocolError(-32602, "out of keys");
        if (how === "plain") throw new Error("out of soap");
        if (how === "by hand") {
          return inputRequired({ inputRequests: { roots: inputRequired.listRoots() } });
        }
        if (how === "nothing") return JSON.parse("{}").nothing;
        const answer = await ctx.mcpReq.elicitInput({
          message: "Name?",
          requestedSchema: nameForm,
        });
        throw new Error(`no room for ${String(answer.content?.["name"])}`);
      },
    );
    return made;
  };
  const server = () => register(new McpServer({ name: "inn", version: "1.0.0" }));
  return { did, server, register };
}
