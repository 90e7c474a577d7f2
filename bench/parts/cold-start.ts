// The time from the start of a process to its first correct response, in turns.

import type { Bench } from "../bench.ts";
import { installPackage } from "../build.ts";
import { median, short, shown, table } from "../figures.ts";
import { converse, startServer } from "../http/compare.ts";
import type { Usage } from "../http/server.ts";
import { plain } from "../http/workloads.ts";

const names = ["bare", "shipped", "sdk", "sdkv1", "tmcp"];

export async function measureColdStart(bench: Bench): Promise<void> {
  const { figures, chance, pace } = bench;
  await installPackage(bench.folder);
  const found = new Map(names.map((name) => [name, { ms: [] as number[], cpuMs: [] as number[] }]));
  for (let round = 0; round < pace.rounds; round += 1) {
    const first = Math.floor(chance.next() * names.length);
    for (const name of [...names.slice(first), ...names.slice(0, first)]) {
      const start = performance.now();
      const server = await startServer(bench, name);
      try {
        if (name === "bare") await server.process.ask("tell", [bareAnswer]);
        await converse(bench, server, plain);
        found.get(name)?.ms.push(performance.now() - start);
        const { cpuMicros } = await server.process.ask<Usage>("usage");
        found.get(name)?.cpuMs.push(cpuMicros / 1_000);
      } finally {
        await server.process.end();
      }
    }
  }
  const bare = found.get("bare");
  const rows = [["", "ms", "CPU ms", "it ÷ bare", "CPU: it ÷ bare"]];
  for (const [name, { ms, cpuMs }] of found) {
    rows.push([
      name,
      short(median(ms)),
      short(median(cpuMs)),
      ...(name === "bare"
        ? ["", ""]
        : [
            shown(figures.ratio(`coldstart/${name}÷bare`, ms, bare?.ms ?? [])),
            shown(figures.ratio(`coldstart/${name}÷bare cpu`, cpuMs, bare?.cpuMs ?? [])),
          ]),
    ]);
  }
  table(rows);
}

const bareAnswer = {
  jsonrpc: "2.0",
  id: 0,
  result: { content: [{ type: "text", text: plain.text }] },
};
