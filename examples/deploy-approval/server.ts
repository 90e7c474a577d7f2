// The site as a program. It prints mails and deployments instead of sending and doing them.

import process from "node:process";
import { sqliteStore } from "mcp-parley/sqlite";
import { makeSite } from "./site.ts";

const { PORT = "3000", TASKS_FILE, SITE_URL } = process.env;

const { app } = makeSite({
  store: sqliteStore(TASKS_FILE),
  url: SITE_URL,
  mail: (subject, link) => console.log("mail", link, subject),
  deploy: (what) => console.log("deploy", what),
});
const { url } = await app.listen(Number(PORT));
console.log("url", url);
