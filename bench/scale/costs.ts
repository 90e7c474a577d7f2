// The measured costs that docs/scale.md is computed from. `npx tsx bench/scale/costs.ts figures.json` takes them from what
// `npm run bench -- --json figures.json` wrote, in one file or in several; `npm run format` then updates the page.

import { readFileSync, writeFileSync } from "node:fs";
import process from "node:process";
import { fileURLToPath } from "node:url";

const names = {
  plainMicros: "plain/fast cpu µs",
  legMicros: "tworound/fast cpu µs",
  cycleMs: "tasks/postgres, 16 at once: CPU ms of this process, cycles",
  cycleServerMs: "tasks/postgres, 16 at once: server CPU ms a cycle",
  cycleWalBytes: "tasks/postgres, 16 at once: server WAL bytes a cycle",
  cycleCommits: "tasks/postgres: commits a cycle, one at a time",
  parkedBytes: "growth/parked, disk bytes a task",
} as const;

export type Costs = Readonly<Record<keyof typeof names, number>>;

const place = new URL("costs.json", import.meta.url);

export const readCosts = (): Costs => JSON.parse(readFileSync(place, "utf8"));

interface Written {
  readonly figures: readonly { readonly name: string; readonly value: number }[];
}

function take(files: readonly string[]): Costs {
  const byName = new Map<string, number>();
  for (const file of files) {
    const { figures }: Written = JSON.parse(readFileSync(file, "utf8"));
    for (const { name, value } of figures) byName.set(name, value);
  }
  const entries = Object.entries(names).map(([key, name]) => {
    const value = byName.get(name);
    if (value === undefined) throw new Error(`There is no figure "${name}".`);
    return [key, Number(value.toPrecision(3))] as const;
  });
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- one entry for each name
  return Object.fromEntries(entries) as Costs;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const files = process.argv.slice(2);
  if (files.length === 0) throw new Error("Usage: npx tsx bench/scale/costs.ts <figures.json>…");
  writeFileSync(place, `${JSON.stringify(take(files), null, 2)}\n`);
}
