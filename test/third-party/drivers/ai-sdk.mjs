import { createMCPClient } from "@ai-sdk/mcp";
import { serve } from "./lines.mjs";

const client = await createMCPClient({ transport: { type: "http", url: process.argv[2] } });
const tools = await client.tools();
await serve(
  (name, args) => tools[name].execute(args, { toolCallId: "call", messages: [] }),
  () => client.close(),
);
