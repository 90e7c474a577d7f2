// The till, or the oven, over stdio, for peers of the draft and all others.

import { drafts } from "mcp-parley/drafts";
import { oven } from "../wire/oven.ts";
import { till } from "../wire/till.ts";

const options =
  process.env["DRAFTS"] === "off" ? {} : { drafts: drafts({ deferTasks: ["order", "ferment"] }) };
const { app } = process.argv[2] === "till" ? till(options) : oven(options);
await app.stdio();
