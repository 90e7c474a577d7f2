// Compares servers side by side: they take turns of a second or less, in a different order every time, and each ratio is
// taken within one round of turns. Other load on the machine then affects all of them alike.

import type { Bench, Pace } from "../bench.ts";
import { Child } from "../child.ts";
import type { Conversation, Revision } from "./conversation.ts";
import type { Leg } from "./leg.ts";
import type { Arriving, Latency, Load, Opening, Span } from "./load.ts";
import type { Usage } from "./server.ts";
import type { Workload } from "./workloads.ts";

/** The number of connections, unless the name of a figure gives another. */
export const usualConnections = 16;

export interface Server {
  readonly name: string;
  readonly process: Child;
  readonly port: number;
}

export interface Contender {
  readonly name: string;
  readonly server: Server;
  readonly legs: readonly Leg[];
}

/** One sample of each round, in the order of the rounds. */
export interface Samples {
  readonly perSecond: number[];
  /** Processor time of the server's process for each request. */
  readonly cpuMicros: number[];
  /** Processor time of the client's process for each request. */
  readonly clientMicros: number[];
}

export async function startServer(
  { built }: Bench,
  name: string,
  program = built("bench/http/server.ts"),
): Promise<Server> {
  const process = new Child(name, program, [name]);
  return { name, process, port: await process.ask<number>("port") };
}

/** The server that other parts use, too. */
export async function sharedServer(bench: Bench, name: string): Promise<Server> {
  const server = bench.servers.get(name) ?? (await startServer(bench, name));
  bench.servers.set(name, server);
  return server;
}

/** One call, checked in every part. */
export function converse(
  { load }: Bench,
  { name, port }: Server,
  workload: Workload,
): Promise<Conversation> {
  const revision: Revision = name === "sdkv1" ? "2025-11-25" : "2026-07-28";
  return load
    .ask<Conversation>("converse", { port, workload, revision })
    .catch((cause: unknown) => {
      throw new Error(`${name} does not serve "${workload.name}" correctly`, { cause });
    });
}

export async function warmUp(bench: Bench, contenders: readonly Contender[]): Promise<void> {
  for (const contender of contenders) {
    await slice(bench, contender, usualConnections, bench.pace.warmUp);
  }
}

/** Measures servers that are warm. */
export async function compare(
  bench: Bench,
  contenders: readonly Contender[],
  connections: number,
  { rounds, sliceMs }: Pick<Pace, "rounds" | "sliceMs"> = bench.pace,
): Promise<ReadonlyMap<string, Samples>> {
  const all = new Map<string, Samples>(
    contenders.map(({ name }) => [name, { perSecond: [], cpuMicros: [], clientMicros: [] }]),
  );
  for (let round = 0; round < rounds; round += 1) {
    for (const contender of shuffled(contenders, bench.chance.next)) {
      const taken = await slice(bench, contender, connections, { ms: sliceMs });
      const samples = all.get(contender.name);
      samples?.perSecond.push((taken.requests * 1_000) / taken.ms);
      samples?.cpuMicros.push(taken.serverMicros / taken.requests);
      samples?.clientMicros.push(taken.cpuMicros / taken.requests);
    }
  }
  return all;
}

interface Slice extends Load {
  readonly serverMicros: number;
}

export function slice(
  bench: Bench,
  contender: Contender,
  connections: number,
  span: Span,
): Promise<Slice> {
  const { process } = contender.server;
  return connected(bench, contender, connections, async () => {
    const before = await process.ask<Usage>("usage");
    const taken = await bench.load.ask<Load>("run", span);
    const after = await process.ask<Usage>("usage");
    return { ...taken, serverMicros: after.cpuMicros - before.cpuMicros };
  });
}

/** Requests that do not wait for each other (arrivals.ts). */
export function arrivals(
  bench: Bench,
  contender: Contender,
  connections: number,
  arriving: Arriving,
): Promise<Latency> {
  return connected(bench, contender, connections, () =>
    bench.load.ask<Latency>("arrive", arriving),
  );
}

/** Opening and closing connections is not timed. */
async function connected<T>(
  { load }: Bench,
  { name, server, legs }: Contender,
  connections: number,
  measure: () => Promise<T>,
): Promise<T> {
  const opening: Opening = { port: server.port, connections, legs };
  await load.ask("open", opening);
  try {
    return await measure();
  } catch (cause) {
    throw new Error(`${name} sent a wrong response, so there is nothing to compare`, { cause });
  } finally {
    await load.ask("close");
  }
}

function shuffled<T>(list: readonly T[], random: () => number): readonly T[] {
  return list
    .map((one) => ({ one, place: random() }))
    .toSorted((a, b) => a.place - b.place)
    .map(({ one }) => one);
}
