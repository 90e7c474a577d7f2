// Serves the conformance fixture until it is told to stop.
//
// Usage: npm run conformance:server -- [--port N] [--attached]

import process from "node:process";
import { parseArgs } from "node:util";
import { ways } from "./serve.ts";

const { values } = parseArgs({
  options: {
    port: { type: "string", default: "3000" },
    attached: { type: "boolean", default: false },
  },
});
const serve = values.attached ? ways.attached : ways.direct;
const listening = await serve(Number(values.port));
process.stdout.write(`conformance fixture on ${listening.url}\n`);
for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.once(signal, () => void listening.close().then(() => process.exit(0)));
}
