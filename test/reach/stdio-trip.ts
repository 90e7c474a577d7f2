// The trip over standard input and output. Its pages are served by the same process, because their visitors come by HTTP.

import process from "node:process";
import { memoryStore } from "mcp-parley";
import { tripApp } from "./trip.ts";

const app = tripApp(process.env["PARLEY_TEST_WORLD"] ?? "", {
  store: memoryStore(),
  limits: { inlineMs: 100 },
});
await app.listen(0);
await app.stdio();
