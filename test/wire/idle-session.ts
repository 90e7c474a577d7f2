// A process that serves one 2025-11-25 client, which never ends its session, and does nothing else.

import { till } from "./till.ts";

const { app } = till();
const response = await app.fetch(
  new Request("http://localhost/mcp", {
    method: "POST",
    headers: {
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
    },
    body: JSON.stringify({
      jsonrpc: "2.0",
      id: 1,
      method: "initialize",
      params: {
        protocolVersion: "2025-11-25",
        capabilities: {},
        clientInfo: { name: "by hand", version: "1.0.0" },
      },
    }),
  }),
);
await response.text();
if (!response.headers.has("mcp-session-id")) throw new Error("It has opened no session.");
