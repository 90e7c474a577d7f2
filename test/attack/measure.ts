// What an attacking request costs the server: processor time as a multiple of a plain call, memory, and stored bytes. Each
// is measured next to plain calls. Where it is above its bar, it is measured again, and the lowest counts: a busy machine
// makes a request look more expensive, and never less.

import process from "node:process";
import { plain, sent, whole } from "./target.ts";
import type { Connection, Target } from "./target.ts";

/** `npm run test:attack` sends more of everything, and larger bodies. */
export const isFull: boolean = process.env["PARLEY_ATTACK"] === "full";

export interface Cost {
  /** Processor time of one request, in plain calls. */
  readonly factor: number;
  /** What the server still holds for one request after a garbage collection. The attacker keeps its connections open. */
  readonly held: number;
  /** How much larger the process became while many came at the same time, for each of them. */
  readonly peak: number;
  /** What one request leaves in the store. */
  readonly stored: number;
}

/** What a request may cost. */
export type Bar = Pick<Cost, "factor" | "held" | "peak"> & { readonly stored?: number };

export const mib: number = 1024 * 1024;

/** Sends one request. Resolves with its connection if it stays open. */
export type Attempt = () => Promise<Connection | undefined>;

const times = isFull ? 8 : 4;
/** At the same time. */
const crowd = 20;
const mostTries = 4;

const isWithin = (cost: Cost, bar: Bar): boolean =>
  cost.factor <= bar.factor &&
  cost.held <= bar.held &&
  cost.peak <= bar.peak &&
  cost.stored <= (bar.stored ?? 0);

/** The lowest cost of a request in a few measurements, or the first one within its bar. */
export async function costOf(
  target: Target,
  attempt: Attempt,
  bar: Bar,
  token?: string,
): Promise<Cost> {
  await attempt().then((connection) => connection?.socket.destroy());
  let lowest = await costOnce(target, attempt, token);
  for (let tries = 1; tries < mostTries && !isWithin(lowest, bar); tries += 1) {
    const cost = await costOnce(target, attempt, token);
    lowest = {
      factor: Math.min(lowest.factor, cost.factor),
      held: Math.min(lowest.held, cost.held),
      peak: Math.min(lowest.peak, cost.peak),
      stored: Math.min(lowest.stored, cost.stored),
    };
  }
  return lowest;
}

async function costOnce(target: Target, attempt: Attempt, token?: string): Promise<Cost> {
  const call = await plainCost(target, token);
  const before = { stored: target.stored(), memory: await target.memory() };
  const held: Connection[] = [];
  const one = async () => {
    const connection = await attempt();
    if (connection !== undefined) held.push(connection);
  };
  const used = await target.cpu();
  for (let count = 0; count < times; count += 1) await one();
  const micros = ((await target.cpu()) - used) / times;
  const bytes = ((await target.memory()) - before.memory) / times;
  const rest = await target.rest();
  await Promise.all(Array.from({ length: crowd }, one));
  const peak = ((await target.peak()) - rest) / crowd;
  const stored = (target.stored() - before.stored) / (times + crowd);
  for (const { socket } of held) socket.destroy();
  return { factor: micros / call, held: bytes, peak, stored };
}

/** What a plain call costs, each on a connection of its own as the attacks are, in microseconds of processor time. */
async function plainCost(target: Target, token?: string): Promise<number> {
  const bytes = whole(target, plain, token);
  const calls = isFull ? 20 : 10;
  const before = await target.cpu();
  for (let count = 0; count < calls; count += 1) await sent(target, bytes);
  return ((await target.cpu()) - before) / calls;
}

/** The first calls of a process cost far more than later ones. */
export async function warmUp(target: Target, token?: string): Promise<void> {
  for (let count = 0; count < 10; count += 1) await plainCost(target, token);
}

// ---------------------------------------------------------------- the table

/** A line of the table, printed in a full run. Returned as well if a cost is above its bar. */
export function noted(attack: string, cost: Cost, bar: Bar): readonly string[] {
  const line = lineOf(attack, [
    cost.factor.toFixed(1),
    (cost.held / 1_024).toFixed(0),
    (cost.peak / 1_024).toFixed(0),
    cost.stored.toFixed(0),
    `${bar.factor}, ${bar.held / mib} MB, ${bar.peak / mib} MB, ${bar.stored ?? 0} B`,
  ]);
  print(line);
  return isWithin(cost, bar) ? [] : [line];
}

/** The head of the table. */
export function printHead(title: string): void {
  print(`\n${lineOf(title, ["CPU, in calls", "held, kB", "peak, kB", "stored, B", "bar"])}`);
}

const print = (line: string): void => void (isFull && process.stdout.write(`${line}\n`));

const lineOf = (name: string, figures: readonly string[]): string =>
  name.padEnd(60) + figures.map((figure) => figure.padStart(15)).join("");
