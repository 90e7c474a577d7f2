// Enumerates crash points with real processes: for every point, one process kills itself there with SIGKILL.
//
//   npm run crash-points -- --store sqlite|postgres

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { parseArgs } from "node:util";
import { startPostgres } from "../postgres/start.ts";
import { crashOfProcess, crashOfRegretProcess } from "./crash-of-process.fixture.ts";
import type { Point } from "./life.ts";
import { openStore } from "./place.ts";
import type { Place } from "./place.ts";
import { around, calls } from "./points.ts";
import { regretCalls } from "./regret.ts";
import type { RegretEnd } from "./regret.ts";
import { mistakesIn } from "./story.ts";

const leaseMs = 1_000;
const atOnce = 4;

const { values } = parseArgs({ options: { store: { type: "string", default: "sqlite" } } });
const { at, remove } = values.store === "postgres" ? await inPostgres() : await inSqlite();
const place: Place = { kind: values.store === "postgres" ? "postgres" : "sqlite", at, leaseMs };
const store = openStore(place);
const points = around(calls, "before", "after");
const regrets = (["throw", "cancel"] as const).flatMap((end) =>
  around(regretCalls[end], "before", "after").map((point) => ({ end, point })),
);
const total = points.length + regrets.length;
let failed = 0;
let reached = 0;

const started = performance.now();
const queue = [
  ...points.map((point) => () => tryOut(point)),
  ...regrets.map(
    ({ end, point }) =>
      () =>
        tryOutRegret(end, point),
  ),
].values();
await Promise.all(
  Array.from({ length: atOnce }, async () => {
    for (const attempt of queue) await attempt();
  }),
);
await store.close();
await remove();
const seconds = ((performance.now() - started) / 1000).toFixed(0);
print(`${reached} of ${total} points, ${failed} failed, ${seconds} s (${place.kind})`);
process.exit(failed > 0 || reached < total ? 1 : 0);

async function tryOut(point: Point): Promise<void> {
  const name = `${point.when} ${point.call}`;
  try {
    const story = await crashOfProcess(place, store, point);
    const mistakes = mistakesIn(story);
    if (story.isDead) reached += 1;
    if (mistakes.length > 0) failed += 1;
    const again = story.cutShort.map((key) => ` ${key} ran again`).join("");
    print(
      `${mistakes.length === 0 ? "ok    " : "WRONG "} ${name}${again}${story.isDead ? "" : " NOT REACHED"}`,
    );
    for (const mistake of mistakes) print(`       ${mistake}`);
  } catch (error) {
    failed += 1;
    print(`WRONG  ${name}\n       ${String(error)}`);
  }
}

async function tryOutRegret(end: RegretEnd, point: Point): Promise<void> {
  const name = `${point.when} ${point.call} of a task that is undone (${end})`;
  try {
    const { mistakes, isDead } = await crashOfRegretProcess(place, store, end, point);
    if (isDead) reached += 1;
    if (mistakes.length > 0) failed += 1;
    print(`${mistakes.length === 0 ? "ok    " : "WRONG "} ${name}${isDead ? "" : " NOT REACHED"}`);
    for (const mistake of mistakes) print(`       ${mistake}`);
  } catch (error) {
    failed += 1;
    print(`WRONG  ${name}\n       ${String(error)}`);
  }
}

interface Database {
  readonly at: string;
  readonly remove: () => Promise<void>;
}

async function inSqlite(): Promise<Database> {
  const folder = await mkdtemp(join(tmpdir(), "parley-faults-"));
  return { at: join(folder, "parley.db"), remove: () => rm(folder, { recursive: true }) };
}

async function inPostgres(): Promise<Database> {
  const { url, stop } = await startPostgres();
  return { at: url, remove: stop };
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
