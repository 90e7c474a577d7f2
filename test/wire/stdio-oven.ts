// The oven over standard input and output, for the tests that start a process: on a file, or in memory.

import { sqliteStore } from "mcp-parley/sqlite";
import { oven } from "./oven.ts";

const say = (line: string) => void process.stderr.write(`${line}\n`);
const file = process.env["OVEN_STORE"];

const { app } = oven({
  logger: { debug: say, info: say, warn: say, error: say },
  ...(file === undefined ? {} : { store: sqliteStore(file) }),
});
await app.stdio();
