// Latency at a share of what a server can serve, with requests that arrive at random times and do not wait for each other.
//
// Each server gets a quarter, a half and three quarters of its own capacity, which is measured anew in each round. The bare
// server also gets the rate that is half of Parley's capacity: the figure compares both at one rate.

import type { Bench } from "../bench.ts";
import { median, short, table } from "../figures.ts";
import { arrivals, converse, sharedServer, slice, warmUp } from "../http/compare.ts";
import type { Contender } from "../http/compare.ts";
import { recorded } from "../http/conversation.ts";
import type { Latency } from "../http/load.ts";
import { plain, twoRounds } from "../http/workloads.ts";
import type { Workload } from "../http/workloads.ts";
import { bareContender } from "./calls.ts";

const connections = 64;
const shares = [25, 50, 75];
const percentiles = ["p50", "p95", "p99", "p999"] as const;
const shownAs = { p50: "p50", p95: "p95", p99: "p99", p999: "p99.9" };

export async function measureLatency(bench: Bench): Promise<void> {
  await measureOne(bench, plain, "latency");
  if (!bench.pace.isQuick) await measureOne(bench, twoRounds, "latency/tworound");
}

async function measureOne(bench: Bench, workload: Workload, name: string): Promise<void> {
  const { figures, chance, pace } = bench;
  const fast = await sharedServer(bench, "fast");
  const conversation = await converse(bench, fast, workload);
  const legs = recorded(conversation);
  const ours: Contender = { name: "fast", server: fast, legs };
  const bare = await bareContender(await sharedServer(bench, "bare"), conversation);
  await warmUp(bench, [ours, bare]);
  const labels = ["fast", "bare"].flatMap((one) => shares.map((share) => `${one}@${share}`));
  const taken = new Map<string, Taken>(
    [...labels, "bare, same rate"].map((label) => [label, { rates: [], latencies: [] }]),
  );
  const turn = async (contender: Contender, label: string, perSecond: number) => {
    const seed = `${label} ${chance.next()}`;
    const arriving = { perSecond, ms: pace.sliceMs * 2, seed };
    const latency = await arrivals(bench, contender, connections, arriving);
    taken.get(label)?.rates.push(perSecond);
    taken.get(label)?.latencies.push(latency);
  };
  for (let round = 0; round < pace.rounds; round += 1) {
    const capacity = await capacities(bench, [ours, bare]);
    const at = (one: Contender, share: number) => ((capacity.get(one.name) ?? 0) * share) / 100;
    const turns = [ours, bare].flatMap((one) =>
      shares.map((share) => () => turn(one, `${one.name}@${share}`, at(one, share))),
    );
    turns.push(() => turn(bare, "bare, same rate", at(ours, 50)));
    // A different turn is the first each time.
    const first = Math.floor(chance.between(0, turns.length));
    for (const one of [...turns.slice(first), ...turns.slice(0, first)]) await one();
  }
  report(bench, name, taken);
  const p99 = (label: string) => taken.get(label)?.latencies.map((one) => one.p99) ?? [];
  const ratio = figures.ratio(`${name}/p99@50÷bare`, p99("fast@50"), p99("bare, same rate"));
  console.log(`  p99 at half of the capacity ÷ bare's at the same rate: ${short(ratio.value)}`);
}

interface Taken {
  readonly rates: number[];
  readonly latencies: Latency[];
}

async function capacities(
  bench: Bench,
  contenders: readonly Contender[],
): Promise<ReadonlyMap<string, number>> {
  const all = new Map<string, number>();
  for (const one of contenders) {
    const { requests, ms } = await slice(bench, one, connections, { ms: bench.pace.sliceMs });
    all.set(one.name, (requests * 1_000) / ms);
  }
  return all;
}

function report({ figures }: Bench, name: string, taken: ReadonlyMap<string, Taken>): void {
  const head = ["ms, from the time it should have been sent", "a second"];
  const rows = [[...head, ...percentiles.map((one) => shownAs[one])]];
  for (const [label, { rates, latencies }] of taken) {
    const cells = percentiles.map((one) => {
      const samples = latencies.map((latency) => latency[one]);
      return short(figures.add(`${name}/${label}, ${shownAs[one]} ms`, ...samples).value);
    });
    rows.push([label, short(median(rates)), ...cells]);
  }
  table(rows);
}
