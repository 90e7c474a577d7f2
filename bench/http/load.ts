// The client's process, on a core of its own. It calls one server at a time over several connections and compares every
// response. The first wrong response ends it.

import process from "node:process";
import { Chance } from "../../test/chaos/chance.ts";
import { answering } from "../child.ts";
import { quantile } from "../figures.ts";
import { openLoop, schedule } from "./arrivals.ts";
import { Connection } from "./connection.ts";
import { converse } from "./conversation.ts";
import type { Conversation, Revision } from "./conversation.ts";
import { stateIn, written } from "./leg.ts";
import type { Leg } from "./leg.ts";
import type { Workload } from "./workloads.ts";

export interface Opening {
  readonly port: number;
  readonly connections: number;
  readonly legs: readonly Leg[];
}

export interface Span {
  readonly ms?: number;
  /** The number of requests. */
  readonly count?: number;
}

export interface Load {
  readonly requests: number;
  readonly ms: number;
  /** Processor time of this process. */
  readonly cpuMicros: number;
}

/** Requests at times that were fixed beforehand. */
export interface Arriving {
  readonly perSecond: number;
  readonly ms: number;
  readonly seed: string;
}

/** Milliseconds from the time at which a request should have been sent until its whole response was there. */
export interface Latency {
  readonly requests: number;
  readonly p50: number;
  readonly p95: number;
  readonly p99: number;
  readonly p999: number;
}

interface Open {
  readonly connections: readonly Connection[];
  readonly legs: readonly Leg[];
  /** The texts of legs without a gap, written once. */
  readonly texts: readonly (string | undefined)[];
}

let open: Open = { connections: [], legs: [], texts: [] };
let fail: (error: Error) => void = () => {};

answering({
  converse: async ({ port, workload, revision }: Conversing): Promise<Conversation> => {
    const failed = new Promise<never>((_, reject) => (fail = reject));
    // This also handles what is thrown below.
    failed.catch(() => {});
    const connection = await Connection.open(port, fail);
    try {
      return await Promise.race([converse(connection, workload, revision), failed]);
    } finally {
      connection.close();
    }
  },
  open: async ({ port, connections, legs }: Opening) => {
    const all = Array.from({ length: connections }, () =>
      Connection.open(port, (error) => fail(error)),
    );
    const texts = legs.map((leg) => (leg.request.length === 1 ? written(leg, "") : undefined));
    open = { connections: await Promise.all(all), legs, texts };
  },
  run,
  arrive,
  close: () => {
    for (const connection of open.connections) connection.close();
  },
});

interface Conversing {
  readonly port: number;
  readonly workload: Workload;
  readonly revision: Revision;
}

/** A connection stops at the end of a call, not in the middle of one, so that all legs count alike. */
function run({ ms = Infinity, count = Infinity }: Span): Promise<Load> {
  const { connections, legs, texts } = open;
  const cpu = process.cpuUsage();
  const start = performance.now();
  let requests = 0;
  let busy = connections.length;
  return new Promise((resolve, reject) => {
    fail = reject;
    for (const connection of connections) go(connection, 0, "");

    function go(connection: Connection, at: number, state: string): void {
      const leg = legs[at];
      if (leg === undefined) return stopOrBegin(connection);
      connection.send(texts[at] ?? written(leg, state), ({ status, body }) => {
        const next = status === "200" ? stateIn(leg, body) : undefined;
        if (next === undefined) {
          return reject(new Error(`Wrong response: ${status} ${body.slice(0, 400)}`));
        }
        requests += 1;
        go(connection, at + 1, next);
      });
    }

    function stopOrBegin(connection: Connection): void {
      if (requests < count && performance.now() - start < ms) return go(connection, 0, "");
      busy -= 1;
      if (busy > 0) return;
      const { user, system } = process.cpuUsage(cpu);
      resolve({ requests, ms: performance.now() - start, cpuMicros: user + system });
    }
  });
}

/** Each arrival sends the next leg as it was recorded. A token can be used more than once, so no leg waits for another. */
async function arrive({ perSecond, ms, seed }: Arriving): Promise<Latency> {
  const { connections, legs, texts } = open;
  const times = schedule(perSecond, ms, new Chance(seed).next);
  const failed = new Promise<never>((_, reject) => (fail = reject));
  const arrived = openLoop({
    times,
    lanes: connections,
    now: () => performance.now(),
    soon: setImmediate,
    send: (connection, index, done) => {
      const at = index % legs.length;
      const leg = legs[at];
      if (leg === undefined) return;
      connection.send(texts[at] ?? "", ({ status, body }) => {
        const isRight = status === "200" && stateIn(leg, body) !== undefined;
        if (isRight) done();
        else fail(new Error(`Wrong response: ${status} ${body.slice(0, 400)}`));
      });
    },
  });
  const sorted = [...(await Promise.race([arrived, failed]))].toSorted((a, b) => a - b);
  const at = (share: number) => quantile(sorted, share);
  return {
    requests: sorted.length,
    p50: at(0.5),
    p95: at(0.95),
    p99: at(0.99),
    p999: at(0.999),
  };
}
