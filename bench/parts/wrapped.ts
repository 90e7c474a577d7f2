// What the engine costs a handler that asks nothing: the fast entry, against the same code with a round that only calls
// the author's function (../http/round-bare.ts).

import { cp, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Bench } from "../bench.ts";
import { median, short, shown, table } from "../figures.ts";
import { compare, converse, startServer, usualConnections, warmUp } from "../http/compare.ts";
import type { Server } from "../http/compare.ts";
import { plain } from "../http/workloads.ts";
import type { Workload } from "../http/workloads.ts";

export async function measureWrapped(bench: Bench): Promise<void> {
  const wrapped = await startServer(bench, "fast");
  const unwrapped = await startServer(bench, "fast", await unwrappedProgram(bench));
  try {
    await converse(bench, wrapped, calledAs("wrapped"));
    await converse(bench, unwrapped, calledAs("bare"));
    const contender = async (name: string, server: Server) => ({
      name,
      server,
      legs: (await converse(bench, server, plain)).legs,
    });
    const contenders = [
      await contender("wrapped", wrapped),
      await contender("unwrapped", unwrapped),
    ];
    await warmUp(bench, contenders);
    const samples = await compare(
      bench,
      contenders,
      usualConnections,
      // The two are close, so it takes more rounds to tell them apart.
      bench.pace.rounds * 3,
    );
    const [one, other] = [samples.get("wrapped"), samples.get("unwrapped")];
    if (one === undefined || other === undefined) return;
    const { figures } = bench;
    const ratio = figures.ratio("wrapped÷unwrapped", one.perSecond, other.perSecond);
    const cpu = figures.ratio("wrapped÷unwrapped cpu", one.cpuMicros, other.cpuMicros);
    table([
      ["", "a second", "CPU µs"],
      ["through the engine", short(median(one.perSecond)), short(median(one.cpuMicros))],
      ["called bare", short(median(other.perSecond)), short(median(other.cpuMicros))],
      ["÷", shown(ratio), shown(cpu)],
    ]);
  } finally {
    await Promise.all([wrapped.process.end(), unwrapped.process.end()]);
  }
}

/** A second copy of the compiled code, with the other round in it. */
async function unwrappedProgram({ folder, built }: Bench): Promise<string> {
  const copy = join(folder, "unwrapped");
  await cp(join(folder, "built"), copy, { recursive: true });
  const inCopy = (file: string) => join(copy, built(file).slice(join(folder, "built").length));
  await writeFile(
    inCopy("src/server/round/round.ts"),
    'export { serveRound } from "../../../bench/http/round-bare.js";\n',
  );
  return inCopy("bench/http/server.ts");
}

/** The tool reports how it was called. Otherwise an entry that bypasses the round would be compared with itself. */
const calledAs = (text: string): Workload => ({
  name: `called ${text}`,
  method: "tools/call",
  params: { name: "how", arguments: {} },
  questions: [],
  text,
});
