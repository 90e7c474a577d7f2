// Serves the conformance fixture until the process is stopped.
//
// Usage: npm run conformance:server -- [--port N] [--attached] [--postgres URL]

import process from "node:process";
import { parseArgs } from "node:util";
import { memoryStore } from "mcp-parley";
import { postgresStore } from "mcp-parley/postgres";
import { ways } from "./serve.ts";

const { values } = parseArgs({
  options: {
    port: { type: "string", default: "3000" },
    attached: { type: "boolean", default: false },
    postgres: { type: "string" },
  },
});
const serve = values.attached ? ways.attached : ways.direct;
const store = values.postgres === undefined ? memoryStore() : postgresStore(values.postgres);
const listening = await serve(Number(values.port), store);
process.stdout.write(`conformance fixture on ${listening.url}\n`);
for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.once(signal, () => void listening.close().then(() => process.exit(0)));
}
