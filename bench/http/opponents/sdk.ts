// The official SDK as its documentation recommends it: `createMcpHandler` behind `toNodeHandler`. Its state codec signs but
// does not encrypt. This file puts the step of the two-round call into the state itself.

import { createServer } from "node:http";
import type { RequestListener } from "node:http";
import { toNodeHandler } from "@modelcontextprotocol/node";
import {
  acceptedContent,
  createMcpHandler,
  createRequestStateCodec,
  inputRequired,
  McpServer,
} from "@modelcontextprotocol/server";
import { z } from "zod";
import { implementation, listening } from "./opponent.ts";
import type { Start } from "./opponent.ts";

interface Kept {
  readonly price: number;
}

const codec = createRequestStateCodec<Kept>({ key: Buffer.alloc(32, 7) });
const Size = z.object({ size: z.string() });

function newServer(): McpServer {
  const server = new McpServer(implementation, {
    requestState: { verify: (state, ctx) => codec.verify(state, ctx) },
  });
  server.registerTool(
    "echo",
    { inputSchema: z.object({ text: z.string() }) },
    async ({ text }) => ({ content: [{ type: "text", text }] }),
  );
  server.registerTool(
    "buy",
    { inputSchema: z.object({ item: z.string() }) },
    async ({ item }, ctx) => {
      const kept = ctx.mcpReq.requestState<Kept>();
      const given = acceptedContent(ctx.mcpReq.inputResponses, "size", Size);
      if (kept === undefined || given === undefined) {
        const question = { message: "Which size?", requestedSchema: Size };
        return inputRequired({
          inputRequests: { size: inputRequired.elicit(question) },
          requestState: await codec.mint({ price: 42 }, ctx),
        });
      }
      return {
        content: [{ type: "text", text: `${item}, ${given.size}, for ${kept.price}` }],
      };
    },
  );
  return server;
}

export const start: Start = async () => {
  const handle = toNodeHandler(createMcpHandler(newServer));
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it differs in how optional members are typed
  const listener = handle as unknown as RequestListener;
  return { port: await listening(createServer(listener)) };
};
