// The program of one replica: it serves calls, runs tasks, and reports to the process that started it. It ends when that
// process ends, even if that was killed.

import { rmSync } from "node:fs";
import process from "node:process";
import { sqliteStore } from "../../tasks/stores/sqlite/index.ts";
import { pretendCloud } from "./cloud.ts";
import { sharedFiles } from "./replicas.ts";
import type { ReplicaMessage } from "./replicas.ts";
import { vmProvision } from "./tool.ts";

const tell = (told: ReplicaMessage) => void process.send?.(told);

// If the terminal is closed, the process that started this one ends, and "disconnect" follows.
process.on("SIGHUP", () => {});

const [folder = ""] = process.argv.slice(2);
process.on("disconnect", () => {
  rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
  process.exit(1);
});

const { tasksFile, cloudFile, leaseMs } = sharedFiles(folder);
const cloud = pretendCloud({ file: cloudFile, onRequest: (what) => tell({ kind: "does", what }) });
const { app } = vmProvision(cloud, sqliteStore(tasksFile, { leaseMs }));
const { url } = await app.listen(0);
tell({ kind: "listens", url });
