// One replica, a process of its own: it serves calls and runs tasks, and tells the one that started it what it does.
// It ends with that one, also where that was killed.

import { rmSync } from "node:fs";
import process from "node:process";
import { sqliteStore } from "../../tasks/stores/sqlite/index.ts";
import { pretendCloud } from "./cloud.ts";
import type { CloudRequest } from "./cloud.ts";
import { placeIn } from "./place.ts";
import { vmProvision } from "./tool.ts";

export type Told =
  | { readonly kind: "listens"; readonly url: string }
  | { readonly kind: "does"; readonly what: CloudRequest["what"] };

const tell = (told: Told) => void process.send?.(told);

// The terminal is gone, and so will be the one that started this: "disconnect" sees to it.
process.on("SIGHUP", () => {});

const [folder = ""] = process.argv.slice(2);
process.on("disconnect", () => {
  rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
  process.exit(1);
});

const { tasksFile, cloudFile, leaseMs } = placeIn(folder);
const cloud = pretendCloud({ file: cloudFile, onRequest: (what) => tell({ kind: "does", what }) });
const { app } = vmProvision(cloud, sqliteStore(tasksFile, { leaseMs }));
const { url } = await app.listen(0);
tell({ kind: "listens", url });
