// The tables of docs/scale.md, from the measured costs. scripts/snippets.ts puts them into the page.

import { defaultTaskLimits } from "../../src/tasks/limits.ts";
import { readCosts } from "./costs.ts";
import type { Costs } from "./costs.ts";
import { enough, fullest } from "./simulation.ts";

/** 99 of 100 requests take no more than this many times their processor time. */
const patience = 8;
/** How much of its processors a database should use in the long run. */
const busyDatabase = 0.6;
const cores = 32;
/** What a process opens: its pool and the connection that listens. */
const connectionsEach = 11;
const secondsIn = { "1 minute": 60, "1 hour": 3_600, "1 day": 86_400 } as const;

/** Called by name from scripts/snippets.ts. */
export const scaleTables: Readonly<Record<string, () => string>> = {
  "scale-costs": () => costTable(readCosts()),
  "scale-calls": () => callTable(readCosts()),
  "scale-live": () => liveTable(readCosts()),
  "scale-parked": () => parkedTable(readCosts()),
  "scale-shards": shardTable,
};

function costTable(costs: Costs): string {
  return table(
    ["measured", "cost"],
    [
      ["a call that asks nothing: processor time", `${costs.plainMicros} µs`],
      ["one round of a call that asks: processor time", `${costs.legMicros} µs`],
      ["a task that asks once: processor time of the server process", `${costs.cycleMs} ms`],
      ["… processor time of Postgres", `${costs.cycleServerMs} ms`],
      ["… commits at most: operations at the same time share them", String(costs.cycleCommits)],
      ["… write-ahead log", `${Math.round(costs.cycleWalBytes / 1_024)} KiB`],
      ["a parked task on disk, with its indexes", `${Math.round(costs.parkedBytes)} bytes`],
    ],
  );
}

function callTable({ plainMicros, legMicros }: Costs): string {
  const rows = [
    { what: "10 000 calls a second that ask nothing", perSecond: 10_000, micros: plainMicros },
    { what: "10 000 calls a second, two rounds each", perSecond: 20_000, micros: legMicros },
  ].map(({ what, perSecond, micros }) => {
    const { processes, busy, p50, p99 } = enough(perSecond, micros / 1_000, patience);
    return [what, String(processes), percent(busy), ms(p50), ms(p99)];
  });
  return table(["load", "processes", "busy", "p50", "p99"], rows);
}

function liveTable(costs: Costs): string {
  const rows = Object.entries(secondsIn).map(([wait, seconds]) => {
    const perSecond = 1_000_000 / seconds;
    const { processes } = enough(perSecond, costs.cycleMs, patience);
    const databaseCores = (perSecond * costs.cycleServerMs) / 1_000 / busyDatabase;
    return [
      wait,
      thousands(perSecond),
      thousands(processes),
      thousands(processes * connectionsEach),
      thousands(Math.ceil(databaseCores)),
      thousands(perSecond * costs.cycleCommits),
      `${((perSecond * costs.cycleWalBytes) / 2 ** 20).toFixed(1)} MiB`,
      thousands(Math.ceil(databaseCores / cores)),
    ];
  });
  return table(
    [
      "a person answers after",
      "tasks a second",
      "processes",
      "connections",
      "cores for Postgres",
      "commits a second, at most",
      "write-ahead log a second",
      `databases with ${cores} cores`,
    ],
    rows,
  );
}

function parkedTable({ parkedBytes, cycleServerMs }: Costs): string {
  const rows = [1e6, 1e7, 1e8].map((parked) => {
    const bytes = parked * parkedBytes;
    // A table grows to twice its size before vacuum has cleaned it up, and a backup is as large again.
    return [thousands(parked), size(bytes), size(2 * bytes)];
  });
  const most = (cores * busyDatabase * 1_000) / cycleServerMs;
  return `${table(["parked tasks", "on disk", "with room for vacuum"], rows)}

One Postgres with ${cores} cores, ${percent(busyDatabase)} busy, completes about ${thousands(most)} tasks a second.`;
}

function shardTable(): string {
  const most = defaultTaskLimits.tasksPerPrincipal;
  const rows = [4, 16, 64].map((shards) => [
    String(shards),
    fullest(shards, 100_000, most).toFixed(2),
    fullest(shards, 1_000_000, most).toFixed(2),
  ]);
  return table(["shards", "100 000 principals", "1 000 000 principals"], rows);
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const rule = head.map((_, at) => (at === 0 ? "---" : "---:"));
  return [head, rule, ...rows].map(line).join("\n");
}

const line = (cells: readonly string[]) => `| ${cells.join(" | ")} |`;
const percent = (share: number) => `${Math.round(share * 100)} %`;
const ms = (value: number) => `${value.toPrecision(2)} ms`;
const thousands = (value: number) =>
  (value < 10 ? Number(value.toPrecision(2)) : Math.round(value))
    .toString()
    .replaceAll(/\B(?=(\d{3})+$)/g, " ");
const size = (bytes: number) =>
  bytes >= 2 ** 30 ? `${Math.round(bytes / 2 ** 30)} GiB` : `${Math.round(bytes / 2 ** 20)} MiB`;
