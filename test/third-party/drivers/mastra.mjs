import { MCPClient } from "@mastra/mcp";
import { serve } from "./lines.mjs";

const client = new MCPClient({ servers: { desk: { url: new URL(process.argv[2]) } } });
const tools = await client.listTools();
await serve(
  (name, args) => tools[`desk_${name}`].execute(args, {}),
  () => client.disconnect(),
);
