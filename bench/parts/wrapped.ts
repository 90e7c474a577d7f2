// What the engine costs a handler that asks nothing: the fast entry, against the same code with a round that only calls
// the author's function (../http/round-bare.ts). Both are served by one process, and several such processes are measured.

import { cp, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Bench } from "../bench.ts";
import { Child } from "../child.ts";
import { median, short, shown, table } from "../figures.ts";
import { compare, converse, usualConnections, warmUp } from "../http/compare.ts";
import type { Contender, Samples } from "../http/compare.ts";
import { plain } from "../http/workloads.ts";
import type { Workload } from "../http/workloads.ts";

const names = ["wrapped", "unwrapped"] as const;

export async function measureWrapped(bench: Bench): Promise<void> {
  const entry = "bench/http/opponents/parley.ts";
  const copy = await unwrappedCopy(bench);
  const wrapped: Samples = { perSecond: [], cpuMicros: [], clientMicros: [] };
  const unwrapped: Samples = { perSecond: [], cpuMicros: [], clientMicros: [] };
  for (let start = 0; start < bench.pace.rounds / 2; start += 1) {
    const samples = await measureOnce(bench, [bench.built(entry), copy(entry)]);
    add(wrapped, samples.get("wrapped"));
    add(unwrapped, samples.get("unwrapped"));
  }
  const { figures } = bench;
  const ratio = figures.ratio("wrapped÷unwrapped", wrapped.perSecond, unwrapped.perSecond);
  const cpu = figures.ratio("wrapped÷unwrapped cpu", wrapped.cpuMicros, unwrapped.cpuMicros);
  table([
    ["", "a second", "CPU µs"],
    ["through the engine", ...medians(wrapped)],
    ["called bare", ...medians(unwrapped)],
    ["÷", shown(ratio), shown(cpu)],
  ]);
}

async function measureOnce(
  bench: Bench,
  builds: readonly [wrapped: string, unwrapped: string],
): Promise<ReadonlyMap<string, Samples>> {
  const process = new Child("wrapped", bench.built("bench/http/two-in-one.ts"), builds);
  try {
    const ports = await process.ask<readonly number[]>("ports");
    const contenders: Contender[] = [];
    for (const [index, name] of names.entries()) {
      const server = { name, process, port: ports[index] ?? 0 };
      await converse(bench, server, calledAs(name === "wrapped" ? "wrapped" : "bare"));
      contenders.push({ name, server, legs: (await converse(bench, server, plain)).legs });
    }
    await warmUp(bench, contenders);
    // The two are close, so it takes many turns to tell them apart, and short ones, so that both meet the same load.
    const { rounds, sliceMs } = bench.pace;
    const turns = { rounds: rounds * 8, sliceMs: sliceMs / 4 };
    return await compare(bench, contenders, usualConnections, turns);
  } finally {
    await process.end();
  }
}

const medians = ({ perSecond, cpuMicros }: Samples): readonly string[] =>
  [perSecond, cpuMicros].map((samples) => short(median(samples)));

function add(all: Samples, more: Samples | undefined): void {
  all.perSecond.push(...(more?.perSecond ?? []));
  all.cpuMicros.push(...(more?.cpuMicros ?? []));
  all.clientMicros.push(...(more?.clientMicros ?? []));
}

/** A second copy of the compiled code, with the other round in it. */
async function unwrappedCopy({ folder, built }: Bench): Promise<(file: string) => string> {
  const copy = join(folder, "unwrapped");
  await cp(join(folder, "built"), copy, { recursive: true });
  const inCopy = (file: string) => join(copy, built(file).slice(join(folder, "built").length));
  await writeFile(
    inCopy("src/server/round/round.ts"),
    'export { serveRound } from "../../../bench/http/round-bare.js";\n',
  );
  return inCopy;
}

/** The tool reports how it was called. Otherwise an entry that bypasses the round would be compared with itself. */
const calledAs = (text: string): Workload => ({
  name: `called ${text}`,
  method: "tools/call",
  params: { name: "how", arguments: {} },
  questions: [],
  text,
});
