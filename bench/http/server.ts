// The process of one opponent: node server.js <name>.

import process from "node:process";
import { answering } from "../child.ts";
import { heapAfterCollection } from "../heap.ts";
import type { Start } from "./opponents/opponent.ts";

/** Each opponent is imported when it starts, so that the others add nothing to its start or its memory. */
const opponents: Readonly<Record<string, () => Promise<Start>>> = {
  bare: async () => (await import("./opponents/bare.ts")).startBare,
  batched: async () => (await import("./opponents/bare.ts")).startBatched,
  fast: async () => (await import("./opponents/parley.ts")).startFast,
  oversdk: async () => (await import("./opponents/parley.ts")).startOverSdk,
  shipped: async () => (await import("./opponents/shipped.ts")).start,
  sdk: async () => (await import("./opponents/sdk.ts")).start,
  sdkv1: async () => (await import("./opponents/sdk-v1.ts")).start,
  tmcp: async () => (await import("./opponents/tmcp.ts")).start,
  wrong: async () => (await import("./opponents/wrong.ts")).start,
};

const name = process.argv[2] ?? "";
const start = await opponents[name]?.();
if (start === undefined) throw new Error(`There is no opponent called "${name}".`);
const opponent = await start();

export interface Usage {
  readonly cpuMicros: number;
  readonly rss: number;
}

answering({
  port: () => opponent.port,
  tell: (what: unknown) => opponent.tell?.(what),
  usage: (): Usage => {
    const { user, system } = process.cpuUsage();
    return { cpuMicros: user + system, rss: process.memoryUsage.rss() };
  },
  heap: heapAfterCollection,
});
