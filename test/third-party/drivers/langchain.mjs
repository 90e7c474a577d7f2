import { MultiServerMCPClient } from "@langchain/mcp-adapters";
import { serve } from "./lines.mjs";

const client = new MultiServerMCPClient({
  mcpServers: { desk: { transport: "http", url: process.argv[2] } },
});
const tools = await client.getTools();
await serve(
  (name, args) => tools.find((tool) => tool.name === name).invoke(args),
  () => client.close(),
);
