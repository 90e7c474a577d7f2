// The client's process, on a core of its own. It calls one server at a time over several connections and compares every
// response. The first wrong response ends it.

import process from "node:process";
import { answering } from "../child.ts";
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
