// After `kill -9` of the process that runs a task: how long until another process, which was idle, begins the same work
// under the same idempotency key. Given as a share of the lease, which has to run out first.

import { join } from "node:path";
import { callTool, envelope, exchange } from "../../test/wire/post.ts";
import { startPostgres } from "../../test/postgres/start.ts";
import type { Bench } from "../bench.ts";
import { Child } from "../child.ts";
import { short, shown, table } from "../figures.ts";

const capabilities = { extensions: { "io.modelcontextprotocol/tasks": {} } };

export async function measureRecovery(bench: Bench): Promise<void> {
  const { figures, folder, pace } = bench;
  const [trials, leaseMs] = pace.isQuick ? [2, 1_000] : [5, 10_000];
  const postgres = await startPostgres();
  try {
    const places = { sqlite: join(folder, "recovery.db"), postgres: postgres.url };
    const rows = [["", "ms, each", "÷ lease"]];
    for (const [kind, at] of Object.entries(places)) {
      const found: number[] = [];
      for (let trial = 0; trial < trials; trial += 1) {
        found.push(await recovered(bench, [kind, at, String(leaseMs)]));
      }
      const shares = found.map((ms) => ms / leaseMs);
      rows.push([
        kind,
        found.map(short).join(" "),
        shown(figures.add(`recovery/${kind}÷lease`, ...shares)),
      ]);
    }
    table(rows);
  } finally {
    await postgres.stop();
  }
}

/** The milliseconds from the kill until the other process begins. */
async function recovered({ built }: Bench, place: readonly string[]): Promise<number> {
  const program = built("bench/recovery/worker.ts");
  const dying = new Child("the one that dies", program, [...place, "stays"]);
  const url = await dying.ask<string>("url");
  const other = new Child("the one that goes on", program, [...place, "works"]);
  try {
    const otherUrl = await other.ask<string>("url");
    const created = await callTool(url, "work", {}, { capabilities });
    const key = await dying.ask<string>("began");
    const again = other.ask<string>("began");
    const start = performance.now();
    await dying.kill();
    const otherKey = await again;
    const ms = performance.now() - start;
    if (otherKey !== key) throw new Error("The same work was begun under another idempotency key.");
    await checkResult(otherUrl, created.result?.["taskId"]);
    return ms;
  } finally {
    await Promise.all([dying.end(), other.end()]);
  }
}

async function checkResult(url: string, taskId: unknown): Promise<void> {
  const get = envelope("tasks/get", { taskId }, { capabilities });
  for (let looks = 0; looks < 100; looks += 1) {
    const { result } = await exchange(url, get);
    if (JSON.stringify(result).includes('"it is done"')) return;
    await new Promise((resolve) => void setTimeout(resolve, 50));
  }
  throw new Error(`Task ${String(taskId)} was not completed.`);
}
