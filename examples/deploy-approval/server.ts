// The site as a program. It prints mails and deployments instead of sending and doing them.

import process from "node:process";
import { sqliteStore } from "mcp-parley/sqlite";
import { startSite } from "./site.ts";
import { Trail } from "./trail.ts";

const { PORT = "3000", TASKS_FILE, TRAIL_FILE = ".parley/trail.jsonl" } = process.env;

const { url } = await startSite({
  port: Number(PORT),
  store: sqliteStore(TASKS_FILE),
  trail: new Trail(TRAIL_FILE),
  mail: (subject, link) => console.log("mail", link, subject),
  deploy: (what) => console.log("deploy", what),
});
console.log("url", url);
