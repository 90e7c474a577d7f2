// What every part of the benchmark is given: how long to measure, seeded chance, the compiled servers, the client's
// process, and a place for figures.

import { rmSync } from "node:fs";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { Chance } from "../test/chaos/chance.ts";
import { build } from "./build.ts";
import type { Built } from "./build.ts";
import { Child } from "./child.ts";
import { Figures } from "./figures.ts";
import type { Curve } from "./growth/curve.ts";
import type { Server } from "./http/compare.ts";

export interface Pace {
  /** Everything in under six minutes: fewer rounds, smaller numbers. */
  readonly isQuick: boolean;
  readonly sliceMs: number;
  readonly rounds: number;
  /** How many requests, or how long, each server is warmed up before anything counts. */
  readonly warmUp: { readonly count: number; readonly ms: number };
}

/** The programs that run in processes of their own. */
const programs = [
  "bench/http/server.ts",
  "bench/http/load.ts",
  "bench/http/round-bare.ts",
  "bench/http/two-in-one.ts",
  "bench/aside/program.ts",
  "bench/http/token-work.ts",
  "bench/recovery/worker.ts",
  "bench/streaming/server.ts",
  "bench/tasks/apart.ts",
];

export class Bench {
  readonly figures = new Figures();
  readonly curves: Curve[] = [];
  readonly pace: Pace;
  readonly chance: Chance;
  readonly folder: string;
  readonly built: Built;
  readonly load: Child;
  /** Servers that serve more than one part. They stay warm from one part to the next. */
  readonly servers = new Map<string, Server>();

  static async open(pace: Pace, seed: string): Promise<Bench> {
    const folder = await mkdtemp(join(tmpdir(), "parley-bench-"));
    process.once("exit", () => remove(folder));
    return new Bench(pace, seed, folder, await build(folder, programs));
  }

  private constructor(pace: Pace, seed: string, folder: string, built: Built) {
    this.pace = pace;
    this.chance = new Chance(seed);
    this.folder = folder;
    this.built = built;
    this.load = new Child("load", built("bench/http/load.ts"));
  }

  readonly close = async (): Promise<void> => {
    const processes = [this.load, ...[...this.servers.values()].map(({ process: one }) => one)];
    await Promise.all(processes.map((one) => one.end()));
    remove(this.folder);
  };
}

const remove = (folder: string) => rmSync(folder, { recursive: true, force: true });
