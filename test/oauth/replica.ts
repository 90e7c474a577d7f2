// A replica as a process, which runs tasks that use an account.

import process from "node:process";
import { parley } from "mcp-parley";
import { postgresStore } from "mcp-parley/postgres";
import { keys, quiet } from "../interop/errands.ts";
import { githubAt, longErrand } from "./long-errand.ts";

const { DATABASE = "", ISSUER = "", LEASE = "" } = process.env;
const github = githubAt(ISSUER);
const app = parley({
  name: "stars",
  version: "1.0.0",
  keys,
  logger: quiet,
  url: "https://tools.example",
  store: postgresStore(DATABASE, { leaseMs: Number(LEASE) }),
  connections: [github],
});
longErrand(app, github, `${ISSUER}/api`);
await app.work({ concurrency: 2 });
process.stdout.write("ready\n");
