import { MCPClientManager } from "@mcpjam/sdk";
import { serve } from "./lines.mjs";

// By default it declares that it renders MCP Apps, which only the program around it can do.
const manager = new MCPClientManager({ desk: { url: process.argv[2], clientCapabilities: {} } });
await serve(
  (name, args) => manager.executeTool("desk", name, args),
  () => manager.disconnectAllServers(),
);
