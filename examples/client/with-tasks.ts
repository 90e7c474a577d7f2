// A plain official client that waits for tasks.

// #region with-tasks
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { withTasks } from "mcp-parley/client";

const client = new Client(
  { name: "my-client", version: "1.0.0" },
  // By default the official client speaks 2025-11-25.
  { capabilities: { elicitation: {} }, versionNegotiation: { mode: "auto" } },
);
client.setRequestHandler("elicitation/create", async () => ({
  action: "accept",
  content: { how: "Fixed" },
}));
const transport = new StreamableHTTPClientTransport(new URL("http://127.0.0.1:3000/mcp"));
await client.connect(withTasks(transport));
const { content } = await client.callTool({ name: "resolve_bug", arguments: { id: 4522 } });
// #endregion
console.log(content.map((block) => (block.type === "text" ? block.text : "")).join("\n"));
await client.close();
