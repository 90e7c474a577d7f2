// What tasks cost on a real store, measured by ../tasks/apart.ts.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { copyFileSync, readFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { nodeIn, nodePackage } from "../../scripts/node-package.ts";
import { root } from "../../scripts/package.ts";
import type { Bench } from "../bench.ts";
import { profiling } from "../child.ts";
import type { Figures } from "../figures.ts";
import { installed } from "../installed.ts";
import { reason } from "../tasks/rival.ts";

const newerNode = "24.21.0";

export async function measureTasks(
  { built, folder, figures, pace }: Bench,
  store: "sqlite" | "postgres",
): Promise<void> {
  const node = store === "sqlite" ? await nodeWithSqlite() : process.execPath;
  // The one file of the test server that is not compiled.
  const keeper = "test/postgres/keeper.mjs";
  copyFileSync(join(root, keeper), built(keeper));
  const file = join(folder, `tasks-${store}.json`);
  const args = [...profiling(`tasks ${store}`), built("bench/tasks/apart.ts"), store, file];
  const child = spawn(node, [...args, ...(pace.isQuick ? ["--quick"] : [])], {
    env: { ...process.env, NODE_ENV: "production" },
    stdio: ["ignore", "inherit", "inherit"],
  });
  const end = () => child.kill("SIGKILL");
  process.once("exit", end);
  const [code] = await once(child, "exit");
  process.removeListener("exit", end);
  if (code !== 0) throw new Error(`The tasks on ${store} could not be measured (${String(code)}).`);
  const measured: Pick<Figures, "all" | "bars"> = JSON.parse(readFileSync(file, "utf8"));
  figures.all.push(...measured.all);
  figures.bars.push(...measured.bars);
}

/** openworkflow needs Node's own SQLite, so an older Node leaves this to a newer one. */
async function nodeWithSqlite(): Promise<string> {
  if (process.getBuiltinModule("node:sqlite") !== undefined) return process.execPath;
  try {
    const node = nodeIn(await installed(`${nodePackage()}@${newerNode}`));
    console.log(`  on Node ${newerNode}, because openworkflow needs Node's own SQLite`);
    return node;
  } catch (error) {
    console.log(`  without openworkflow, because there is no newer Node: ${reason(error)}`);
    return process.execPath;
  }
}
