// Small simulations for docs/scale.md: requests that queue for processes, and principals that are spread over databases.
// Everything random comes from a seed, so the same costs give the same page.

import { Chance } from "../../test/chaos/chance.ts";
import { quantile } from "../figures.ts";

interface Queue {
  /** Arrivals a second, at random times. */
  readonly perSecond: number;
  /** Processor time of one request in milliseconds. Single requests take between half of it and twice of it. */
  readonly costMs: number;
  /** How many requests are served at once. Each request goes to one of these at random, as a balancer would send it. */
  readonly processes: number;
}

export interface Queued {
  readonly processes: number;
  /** The share of time in which a process is busy. */
  readonly busy: number;
  readonly p50: number;
  readonly p99: number;
}

const arrivals = 100_000;

export function queued({ perSecond, costMs, processes }: Queue): Queued {
  const chance = new Chance(`${perSecond} ${costMs} ${processes}`);
  const freeAt = new Float64Array(processes);
  const times = new Float64Array(arrivals);
  let now = 0;
  for (let index = 0; index < arrivals; index += 1) {
    now -= (Math.log(1 - chance.next()) * 1_000) / perSecond;
    const at = Math.floor(chance.next() * processes);
    // The mean of 2 to the power of -1 to 1 is 1.08.
    const cost = (costMs * 2 ** chance.between(-1, 1)) / 1.082;
    const start = Math.max(now, freeAt[at] ?? 0);
    freeAt[at] = start + cost;
    times[index] = start + cost - now;
  }
  const all = [...times];
  return {
    processes,
    busy: (perSecond * costMs) / 1_000 / processes,
    p50: quantile(all, 0.5),
    p99: quantile(all, 0.99),
  };
}

/** The fewest processes with which 99 of 100 requests take no more than this many times their cost. */
export function enough(perSecond: number, costMs: number, times: number): Queued {
  for (let processes = Math.ceil((perSecond * costMs) / 1_000); ;) {
    const found = queued({ perSecond, costMs, processes });
    if (found.p99 <= times * costMs) return found;
    processes += Math.ceil(processes / 50);
  }
}

/**
 * The load of the fullest shard, divided by the mean. The principal at place n has tasks in proportion to 1/n, up to the
 * limit of tasks of a principal, and a hash of its name picks the shard.
 */
export function fullest(shards: number, principals: number, mostTasks: number): number {
  const chance = new Chance(`${shards} shards`);
  const load = new Float64Array(shards);
  let sum = 0;
  for (let place = 1; place <= principals; place += 1) {
    const tasks = Math.min(mostTasks, principals / place);
    const shard = Math.floor(chance.next() * shards);
    load[shard] = (load[shard] ?? 0) + tasks;
    sum += tasks;
  }
  return Math.max(...load) / (sum / shards);
}
