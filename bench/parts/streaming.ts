// Parts of a result in rounds: how soon the first one comes, and how many pieces a second get through, against a bare
// `node:http` server that writes an event for each piece. One connection, because each stream has one of its own.

import { Agent, request } from "node:http";
import type { Bench } from "../bench.ts";
import { Child } from "../child.ts";
import { median, short, shown, table } from "../figures.ts";
import { call, headers, streamedIn } from "../streaming/wire.ts";

interface Case {
  readonly name: string;
  readonly count: number;
  readonly perTurn: number;
  /** How many calls a turn has. */
  readonly calls: number;
  /** The sample of one turn. */
  readonly sample: (streams: readonly Streamed[]) => number;
}

interface Streamed {
  readonly firstMs: number;
  readonly allMs: number;
}

const opponents = ["bare", "fast", "oversdk"] as const;
const pieceLength = 20;

export async function measureStreaming(bench: Bench): Promise<void> {
  const count = bench.pace.isQuick ? 2_000 : 10_000;
  const perSecond = (streams: readonly Streamed[]) =>
    count / (median(streams.map(({ allMs }) => allMs)) / 1_000);
  const cases: readonly Case[] = [
    {
      name: "first part",
      count: 10,
      perTurn: 1,
      calls: 50,
      sample: (streams) => median(streams.map(({ firstMs }) => firstMs)),
    },
    { name: "ten a turn", count, perTurn: 10, calls: 5, sample: perSecond },
    { name: "one a turn", count, perTurn: 1, calls: 5, sample: perSecond },
  ];
  const file = bench.built("bench/streaming/server.ts");
  const servers = opponents.map((name) => new Child(name, file, [name]));
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  try {
    const ports = await Promise.all(servers.map((server) => server.ask<number>("port")));
    for (const one of cases) await measured(bench, one, agent, ports);
  } finally {
    agent.destroy();
    await Promise.all(servers.map((server) => server.end()));
  }
}

async function measured(
  { pace, chance, figures }: Bench,
  { name, count, perTurn, calls, sample }: Case,
  agent: Agent,
  ports: readonly number[],
): Promise<void> {
  const body = call(count, perTurn);
  const samples = opponents.map((): number[] => []);
  const turn = async (of: number) => {
    const streams: Streamed[] = [];
    for (let i = 0; i < calls; i += 1) {
      streams.push(await streamed(agent, ports[of] ?? 0, body, count * pieceLength));
    }
    return sample(streams);
  };
  for (const of of opponents.keys()) for (let i = 0; i < 3; i += 1) await turn(of);
  for (let round = 0; round < pace.rounds; round += 1) {
    const first = Math.floor(chance.between(0, opponents.length));
    for (const at of opponents.keys()) {
      const of = (first + at) % opponents.length;
      samples[of]?.push(await turn(of));
    }
  }
  const [bare = [], fast = [], oversdk = []] = samples;
  const ratio = figures.ratio(`streaming/${name}, fast÷bare`, fast, bare);
  const sdkRatio = figures.ratio(`streaming/${name}, oversdk÷bare`, oversdk, bare);
  const unit = name === "first part" ? "ms" : "pieces a second";
  table([
    [name, unit, "÷ bare"],
    ["bare", short(median(bare)), ""],
    ["fast", short(median(fast)), shown(ratio)],
    ["oversdk", short(median(oversdk)), shown(sdkRatio)],
  ]);
}

/** One call. A response that lacks something ends the run. */
function streamed(agent: Agent, port: number, body: string, length: number): Promise<Streamed> {
  return new Promise((resolve, reject) => {
    const start = performance.now();
    let firstMs = 0;
    const chunks: Buffer[] = [];
    const sent = request(
      { agent, port, host: "127.0.0.1", path: "/mcp", method: "POST", headers },
      (res) => {
        res.on("data", (chunk: Buffer) => {
          if (firstMs === 0) firstMs = performance.now() - start;
          chunks.push(chunk);
        });
        res.on("error", reject);
        res.on("end", () => {
          const allMs = performance.now() - start;
          try {
            const found = streamedIn(Buffer.concat(chunks).toString());
            if (found !== length) throw new Error(`${found} of ${length} characters came.`);
            resolve({ firstMs, allMs });
          } catch (error) {
            reject(error instanceof Error ? error : new Error(String(error)));
          }
        });
      },
    );
    sent.on("error", reject);
    sent.end(body);
  });
}
