// npm run chaos -- --tasks 1000 --replicas 3 --store postgres
//
// Exits with 0 only if every invariant held.

import { randomBytes } from "node:crypto";
import process from "node:process";
import { parseArgs } from "node:util";
import { wrongs } from "./invariants.ts";
import { chaos } from "./run.ts";
import type { ChaosOptions, Report } from "./run.ts";
import { isSabotage, sabotages } from "./sabotage.ts";
import { trials } from "./trials.ts";

const usage = `Usage: npm run chaos -- [options]
  --tasks <number>       how many tasks (200)
  --at-once <number>     how many of them are under way at once (50 a replica)
  --replicas <number>    how many processes work on them (3)
  --store <name>         sqlite or postgres (sqlite)
  --seed <text>          of all chance in the run; printed where none is given
  --lease <ms>           how long a worker holds a task without renewing (1500)
  --gap <ms>             from one kill or pause to the next, on average (2700 / replicas)
  --minutes <number>     when to give up (10)
  --tools <names>        only handlers of these shapes, with commas between
  --cancels <share>      cancels this share of the tasks, from 0 to 1, gives most steps an
                         undo, and lets some handlers throw (0)
  --streams              tasks that stream, and readers that disconnect and go on elsewhere
  --run-due              every worker is replaced by short calls of runDue
  --pooled               through a PgBouncer in transaction mode, which has to be installed
  --outages              kills Postgres itself now and then, and starts it again
  --sabotage <name>      ${sabotages.join(", ")}:
                         breaks the engine, in a run that is apt to show it
  --evidence <path>      keeps what handlers and bodies noted
`;

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

function optionsFrom(args: readonly string[]): ChaosOptions {
  const text = { type: "string" } as const;
  const { values } = parseArgs({
    args: [...args],
    options: {
      tasks: text,
      replicas: text,
      store: text,
      seed: text,
      lease: text,
      gap: text,
      minutes: text,
      sabotage: text,
      evidence: text,
      tools: text,
      "at-once": text,
      cancels: text,
      outages: { type: "boolean" },
      streams: { type: "boolean" },
      "run-due": { type: "boolean" },
      pooled: { type: "boolean" },
    },
  });
  const { store = "sqlite", sabotage } = values;
  if (store !== "sqlite" && store !== "postgres")
    throw new Error(`--store takes sqlite or postgres, not "${store}".`);
  if (sabotage !== undefined && !isSabotage(sabotage))
    throw new Error(`There is no sabotage "${sabotage}".`);
  const trial = sabotage && trials[sabotage];
  const number = (
    name: "tasks" | "replicas" | "lease" | "gap" | "at-once" | "minutes" | "cancels",
  ) => (values[name] === undefined ? undefined : positive(name, values[name]));
  const replicas = number("replicas") ?? trial?.replicas ?? 3;
  return {
    store,
    replicas,
    sabotage,
    tasks: number("tasks") ?? trial?.tasks ?? 200,
    atOnce: number("at-once") ?? trial?.atOnce ?? 50 * replicas,
    tools: values.tools?.split(",") ?? trial?.tools,
    seed: values.seed ?? randomBytes(4).toString("hex"),
    leaseMs: number("lease") ?? trial?.leaseMs ?? 1_500,
    gapMs: number("gap") ?? trial?.gapMs ?? 2_700 / replicas,
    kills: trial?.kills ?? 0.4,
    pauses: trial?.pauses ?? 0.5,
    mostMs: 60_000 * (number("minutes") ?? 10),
    mostDeeds: trial?.mostDeeds,
    outages: values.outages,
    streams: values.streams,
    runDue: values["run-due"],
    pooled: values.pooled,
    cancels: number("cancels"),
    evidence: values.evidence,
    log: (line) => void process.stderr.write(`${line}\n`),
  };
}

function positive(name: string, text: string): number {
  const number = Number(text);
  if (!(number > 0)) throw new Error(`--${name} takes a number above 0, not "${text}".`);
  return number;
}

function tell(options: ChaosOptions, report: Report): void {
  const { counts, deeds, violations, seconds, mishaps } = report;
  const count = (wrong: string) => violations.filter((one) => one.wrong === wrong).length;
  say(
    `seed ${options.seed}, ${options.store}, ${options.replicas} replicas, ${options.leaseMs} ms`,
  );
  say(`${options.tasks} tasks in ${seconds.toFixed(1)} s, ${counts.runs} runs of their handlers`);
  say(
    `${deeds.kills} kills, ${deeds.pauses} pauses (${deeds.longPauses} longer than a lease), ` +
      `${deeds.drains} drains, ${deeds.outages} outages of the store`,
  );
  say(
    `${counts.bodies} bodies started, ${counts.bodiesAgain} again because they were not recorded ` +
      `(expected), ${counts.bodiesInTheGap} after a pause between lease check and body`,
  );
  say(
    `${counts.answersGiven} answers given, ${counts.answersAcknowledged} acknowledged, ` +
      `${counts.answersTooLate} of them too late for a race or a limit ` +
      `(${counts.answersOvertaken} in time by the store's clock)`,
  );
  if (options.cancels !== undefined) {
    say(
      `${counts.cancelled} tasks cancelled, ${counts.failed} failed, ` +
        `${counts.stepsUndone} of their steps undone, ${counts.undosAgain} undos tried again`,
    );
  }
  for (const [mishap, times] of mishaps) say(`survived ${times} times: ${mishap}`);
  say("");
  for (const wrong of wrongs) say(`${String(count(wrong)).padStart(6)}  ${wrong}`);
  for (const { wrong, task, what } of violations.slice(0, 20)) say(`${wrong}: ${task}: ${what}`);
  say("");
  say(violations.length === 0 ? "Every invariant held." : "VIOLATED");
}

let options: ChaosOptions;
try {
  options = optionsFrom(process.argv.slice(2));
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n\n${usage}`);
  process.exit(2);
}
for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => process.exit(130));
process.stderr.write(`seed ${options.seed}\n`);
const report = await chaos(options);
tell(options, report);
process.exitCode = report.violations.length === 0 ? 0 : 1;
