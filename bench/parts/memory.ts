// Resident memory: of an idle server, and of a warm server after every quarter of 100 000 calls. It is flat if the last
// quarter needs no more than the first.

import type { Bench } from "../bench.ts";
import { short, table } from "../figures.ts";
import { converse, slice, startServer, usualConnections } from "../http/compare.ts";
import type { Contender, Server } from "../http/compare.ts";
import type { Usage } from "../http/server.ts";
import { plain, twoRounds } from "../http/workloads.ts";
import { bareContender } from "./calls.ts";

const calls = 100_000;
const quarters = 4;
// V8 enlarges its young generation by 13 MiB when enough has survived in it: at some point during the first hundred
// thousand calls, or after them.
const warmUp = 2 * calls;

export async function measureMemory(bench: Bench): Promise<void> {
  const rows = [["", "idle MiB", "25 %", "50 %", "75 %", "100 %", "heap, collected: idle → end"]];
  const fast = await startServer(bench, "fast");
  const bare = await startServer(bench, "bare");
  try {
    bench.figures.add("memory/fast÷bare idle", (await rss(fast)) / (await rss(bare)));
    const conversation = await converse(bench, fast, plain);
    rows.push(await watched(bench, await bareContender(bare, conversation)));
    rows.push(await watched(bench, { name: "fast", server: fast, legs: conversation.legs }));
    if (!bench.pace.isQuick) {
      const { legs } = await converse(bench, fast, twoRounds);
      rows.push(await watched(bench, { name: "fast, two rounds", server: fast, legs }));
    }
  } finally {
    await Promise.all([fast.process.end(), bare.process.end()]);
  }
  table(rows);
}

async function watched(bench: Bench, contender: Contender): Promise<string[]> {
  const { name, server, legs } = contender;
  const { figures } = bench;
  const heapBefore = await server.process.ask<number>("heap");
  const resident = [await rss(server)];
  await slice(bench, contender, usualConnections, { count: warmUp });
  for (let quarter = 0; quarter < quarters; quarter += 1) {
    const count = (calls * legs.length) / quarters;
    await slice(bench, contender, usualConnections, { count });
    resident.push(await rss(server));
  }
  const heapAfter = await server.process.ask<number>("heap");
  const [, first = Number.NaN] = resident;
  figures.add(`memory/${name} 100k÷25k`, (resident.at(-1) ?? Number.NaN) / first);
  figures.add(`memory/${name} heap bytes a call`, (heapAfter - heapBefore) / calls);
  return [name, ...resident.map(mib), `${mib(heapBefore)} → ${mib(heapAfter)}`];
}

const rss = async ({ process }: Server) => (await process.ask<Usage>("usage")).rss;

const mib = (bytes: number) => short(bytes / 2 ** 20);
