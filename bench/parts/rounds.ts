// What a round costs as the journal grows: repeats the 1st, the 10th, … round of a call with 1 000 rounds, in turns. Each
// round opens a token with everything that came before, replays it, and seals one more answer.

import type { Bench } from "../bench.ts";
import { fitted, median, short, shown, table } from "../figures.ts";
import { keep } from "../growth/curve.ts";
import { compare, converse, startServer, usualConnections, warmUp } from "../http/compare.ts";
import { repeated } from "../http/conversation.ts";
import { answer, counted } from "../http/workloads.ts";

const places = [1, 10, 50, 100, 200, 500, 1_000];

export async function measureRounds(bench: Bench): Promise<void> {
  const { figures } = bench;
  const server = await startServer(bench, "fast");
  try {
    const conversation = await converse(bench, server, counted(1_001));
    const contenders = places.map((place) => ({
      name: String(place),
      server,
      legs: repeated(conversation, place - 1),
    }));
    // All of them are one server.
    await warmUp(bench, contenders.slice(2, 3));
    const samples = await compare(bench, contenders, usualConnections);
    const first = samples.get("1")?.cpuMicros ?? [];
    const rows = [["round", "CPU µs", "÷ the first", "token bytes", "÷ the answers in it"]];
    for (const place of places) {
      const { cpuMicros = [] } = samples.get(String(place)) ?? {};
      const ratio = figures.ratio(`rounds/${place}÷1 cpu`, cpuMicros, first);
      const { token, answers } = sizes(conversation.said[place - 1]?.response ?? "", place);
      const size =
        place === 1
          ? ""
          : short(figures.add(`rounds/${place} token bytes÷answers`, token / answers).value);
      rows.push([String(place), short(median(cpuMicros)), shown(ratio), String(token), size]);
    }
    table(rows);
    const medianOf = (place: number) => median(samples.get(String(place))?.cpuMicros ?? []);
    const line = fitted(places.map((place) => [place, medianOf(place)]));
    console.log(
      `  a straight line: ${short(line.base)} + ${short(line.slope)} µs a round, R² ${line.r2.toFixed(3)}`,
    );
    figures.add("rounds/straightness R²", line.r2);
    const curve = {
      name: "rounds",
      title: "Rounds of a call",
      x: "which round of the call",
      y: "processor time of this round, µs",
      points: places.map((place) => [place, medianOf(place)] as const),
    };
    keep(figures, curve);
    bench.curves.push(curve);
  } finally {
    await server.process.end();
  }
}

/** The size of the answers as JSON, the least that must be carried. An entry also has the digest of its question. */
function sizes(response: string, place: number): { token: number; answers: number } {
  const { result }: { readonly result: { readonly requestState: string } } = JSON.parse(response);
  const answers = Array.from({ length: place - 1 }, (_, at) => [`q${at + 1}`, answer]);
  return { token: result.requestState.length, answers: JSON.stringify(answers).length };
}
