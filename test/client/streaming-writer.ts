// A worker that never gets beyond the middle of the first stream of the task.

import process from "node:process";
import { sqliteStore } from "mcp-parley/sqlite";
import { reportApp } from "./streaming-report.ts";

const { DATABASE = "" } = process.env;
const store = sqliteStore(DATABASE, { leaseMs: 1_000 });
await reportApp({ store }, () => new Promise(() => {})).work();
process.stdout.write("works\n");
