// `npm run bench`: every figure of this library, as ratios measured side by side. README.md says how to read them.

import { randomBytes } from "node:crypto";
import { writeFileSync } from "node:fs";
import { cpus, loadavg } from "node:os";
import process from "node:process";
import { parseArgs } from "node:util";
import { checkBars } from "./bars.ts";
import { Bench } from "./bench.ts";
import { profileInto } from "./child.ts";
import { drawn } from "./growth/svg.ts";
import {
  fiveRounds,
  fourQuestions,
  journal,
  plain,
  resource,
  inlineSchema,
  twoRounds,
} from "./http/workloads.ts";
import type { Workload } from "./http/workloads.ts";
import { markdown } from "./markdown.ts";
import { measureAside } from "./parts/aside.ts";
import { measureCalls } from "./parts/calls.ts";
import { measureColdStart } from "./parts/cold-start.ts";
import { measureGrowth } from "./parts/growth.ts";
import { measureLatency } from "./parts/latency.ts";
import { measureMemory } from "./parts/memory.ts";
import { measureRecovery } from "./parts/recovery.ts";
import { measureRounds } from "./parts/rounds.ts";
import { measureSize } from "./parts/size.ts";
import { measureStreaming } from "./parts/streaming.ts";
import { measureTaskStreaming } from "./parts/task-streaming.ts";
import { measureTasks } from "./parts/tasks.ts";
import { measureTokenShare } from "./parts/token-share.ts";
import { measureWrapped } from "./parts/wrapped.ts";

const usage = `Usage: npm run bench -- [options]
  --quick            everything in under six minutes: fewer rounds, smaller numbers
  --only <pattern>   only parts whose name matches this regular expression
  --json <file>      writes { "figures": [{ "name", "value", "spread", "n" }] }
  --svg <file>       draws the curves of "rounds" and "growth"
  --markdown         also prints the tables of bench/README.md
  --strict           exits with 1 if a limit is missed
  --rounds <number>  how many turns each server has (default 9, with --quick 4)
  --slice <ms>       how long a turn is (default 800, with --quick 400)
  --profile <folder> each process writes a .cpuprofile there; the figures mean little then
  --seed <text>      decides the order of turns; by default random, and printed
  --help             prints this text and the names of the parts
`;

type Part = readonly [name: string, measure: (bench: Bench) => Promise<void>];

const all = [1, 16, 64];
const usual = [16];
/** With `--quick`, the bare server alone: it is the only one that limits name, and the others are slow to warm up. */
const unlessQuick = ({ pace }: Bench, others: readonly string[]): readonly string[] =>
  pace.isQuick ? [] : others;

async function measurePlain(bench: Bench): Promise<void> {
  const others = ["batched", "oversdk", "sdk", "tmcp", "sdkv1"];
  if (!bench.pace.isQuick) return measureCalls(bench, plain, others, all);
  await measureCalls(bench, plain, others, usual);
  return measureCalls(bench, plain, ["batched"], [1, 64]);
}

const measureTwoRounds = (bench: Bench): Promise<void> =>
  measureCalls(
    bench,
    twoRounds,
    ["batched", "oversdk", "sdk", "tmcp"],
    bench.pace.isQuick ? usual : all,
  );

/** A workload that limits compare with the bare server alone. */
const measureOthers =
  (workload: Workload, others: readonly string[]) =>
  (bench: Bench): Promise<void> =>
    measureCalls(bench, workload, unlessQuick(bench, others), usual);

const parts: readonly Part[] = [
  ["plain", measurePlain],
  ["tworound", measureTwoRounds],
  ["tworound-inline", measureOthers(inlineSchema, [])],
  ["fiverounds", measureOthers(fiveRounds, ["oversdk", "tmcp"])],
  ["fourquestions", measureOthers(fourQuestions, ["oversdk"])],
  ["journal1k", measureOthers(journal("journal1k", 1024), ["oversdk"])],
  ["journal16k", measureOthers(journal("journal16k", 16 * 1024), ["oversdk"])],
  ["resource", measureOthers(resource, ["oversdk"])],
  ["latency", measureLatency],
  ["wrapped", measureWrapped],
  ["token/share", measureTokenShare],
  ["rounds", measureRounds],
  ["token", (bench) => measureAside(bench, "token")],
  ["engine", (bench) => measureAside(bench, "engine")],
  ["coldstart", measureColdStart],
  ["size", measureSize],
  ["memory", measureMemory],
  ["recovery", measureRecovery],
  ["streaming", measureStreaming],
  ["task-streaming", measureTaskStreaming],
  ["growth", measureGrowth],
  ["tasks/sqlite", (bench) => measureTasks(bench, "sqlite")],
  ["tasks/postgres", (bench) => measureTasks(bench, "postgres")],
];

async function main(): Promise<void> {
  const text = { type: "string" } as const;
  const flag = { type: "boolean", default: false } as const;
  const { values } = parseArgs({
    options: {
      help: flag,
      quick: flag,
      strict: flag,
      markdown: flag,
      only: text,
      json: text,
      svg: text,
      profile: text,
      rounds: text,
      slice: text,
      seed: text,
    },
  });
  if (values.help) {
    console.log(`${usage}\nThe parts: ${partNames()}`);
    return;
  }
  const { quick: isQuick, only = "", seed = randomBytes(4).toString("hex") } = values;
  const chosen = parts.filter(([name]) => new RegExp(only).test(name));
  if (chosen.length === 0) {
    throw new Error(`No part matches --only. The parts are: ${partNames()}`);
  }
  if (values.profile !== undefined) profileInto(values.profile);
  const sliceMs = positive("slice", values.slice, isQuick ? 400 : 800);
  const pace = {
    isQuick,
    sliceMs,
    rounds: positive("rounds", values.rounds, isQuick ? 4 : 9),
    // A just-in-time compiler counts calls, not seconds. The slowest servers have a time limit.
    warmUp: isQuick ? { count: 8_000, ms: 6 * sliceMs } : { count: 30_000, ms: 18 * sliceMs },
  };
  console.log(`${machine()}; seed ${seed}, load ${load()} before`);
  const bench = await Bench.open(pace, seed);
  try {
    for (const [name, measure] of chosen) {
      const start = performance.now();
      console.log(`\n${name}`);
      await measure(bench);
      console.log(`  (${((performance.now() - start) / 1_000).toFixed(0)} s)`);
    }
  } finally {
    await bench.close();
  }
  const { figures } = bench;
  console.log("\nLimits");
  checkBars(figures);
  console.log(`\nload ${load()} after`);
  if (values.markdown) console.log(`\n${markdown(figures.all, machine())}`);
  if (values.json !== undefined) figures.write(values.json);
  if (values.svg !== undefined) writeFileSync(values.svg, drawn(bench.curves, machine()));
  if (values.strict && figures.bars.some(({ isMet }) => !isMet)) process.exitCode = 1;
}

const partNames = () => parts.map(([name]) => name).join(", ");

function positive(name: string, given: string | undefined, otherwise: number): number {
  const value = given === undefined ? otherwise : Number(given);
  if (!(value > 0)) throw new Error(`--${name} must be a number above 0.`);
  return value;
}

function machine(): string {
  const [{ model } = { model: "an unknown processor" }, ...others] = cpus();
  return `Node ${process.version}, ${others.length + 1} × ${model.trim()}`;
}

const load = () => (loadavg()[0] ?? 0).toFixed(1);

// Child processes end in the "exit" event of this one.
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(1));

main().catch((error: unknown) => {
  for (let cause = error; cause instanceof Error; cause = cause.cause) console.error(cause.message);
  if (error instanceof TypeError) console.error(usage);
  process.exitCode = 1;
});
