// A server over standard input and output without keys.

import { parley } from "mcp-parley";

const app = parley({ name: "keyless", version: "1.0.0" });
app.tool("ask", {}, (ctx) => ctx.ask("name", "Name?"));
await app.stdio();
