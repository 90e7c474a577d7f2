// One replica: it serves calls and runs tasks. It prints where it listens, and then what it does.

import process from "node:process";
import { sqliteStore } from "mcp-parley/sqlite";
import { pretendCloud } from "./cloud.ts";
import { vmProvision } from "./tool.ts";

const { TASKS_FILE, CLOUD_FILE = "", LEASE_MS, CLOUD_FORGETS } = process.env;

const cloud = pretendCloud({ file: CLOUD_FILE, isForgetful: CLOUD_FORGETS === "1" });
const { app } = vmProvision(cloud, sqliteStore(TASKS_FILE, { leaseMs: Number(LEASE_MS) }));
const { url } = await app.listen(0);
console.log("url", url);
