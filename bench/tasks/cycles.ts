// Create, park, answer, complete: how many cycles a second, against bare transactions and against other engines.
//
// All contenders take turns in one process, and every ratio is taken within one round of turns, so that other load on the
// machine affects all of them alike.

import { randomBytes } from "node:crypto";
import type { Bare, Bed } from "./bed.ts";
import { Engine } from "./engine.ts";
import { short, shown, table } from "../figures.ts";
import type { Figures } from "../figures.ts";
import { loop } from "./loop.ts";
import type { Limits, Rate } from "./loop.ts";
import { isMissing } from "./rival.ts";
import type { Rival } from "./rival.ts";
import type { Scale } from "./scale.ts";

/** How many tasks a worker runs at once, in both engines. It is enough for the largest number of lanes. */
const workerConcurrency = 64;

/** The most time that the cycles before the first turn may take. */
const warmUpMs = 5_000;

/** How often a cycle changes its task: created, claimed, parked, answered, claimed again, completed. */
const transitions = 6;

interface Contender {
  readonly name: string;
  /** The rate of each turn, in items a second. */
  readonly rates: number[];
  readonly cpuMs: number[];
  readonly turn: (limits: Limits) => Promise<Rate>;
}

export async function measureCycles(bed: Bed, figures: Figures, scale: Scale): Promise<void> {
  const { cycles: tasks, turnMs, rounds, warmUp } = scale;
  console.log(`\n  Create, park, answer, complete on ${bed.about}`);
  const store = await bed.store();
  const engine = new Engine(store);
  const bares = await bed.bare();
  const rivals: Rival[] = [];
  for (const one of await bed.rivals()) {
    if (isMissing(one)) console.log(`  ${one.name} is not compared here: ${one.why}`);
    else rivals.push(one);
  }
  const ledgers = new Map(bares.map((bare) => [bare, { inserts: 0, updates: 0 }]));
  const turns = { count: tasks, ms: turnMs };

  await engine.start(workerConcurrency);
  await loop(8, { count: 200, ms: turnMs }, engine.cycle);
  const perCycle = await anatomy(bed, engine, figures);
  await engine.stop();

  for (const lanes of scale.lanes) {
    const turnOf = (work: () => Promise<void>) => async (limits: Limits) => {
      await engine.start(workerConcurrency);
      const rate = await loop(lanes, limits, work);
      await engine.stop();
      return rate;
    };
    const ours = contender("parley", turnOf(engine.cycle));
    const straight = contender("straight", turnOf(engine.straight));
    const bare = bares.map((one) =>
      contender(one.name, ({ count, ms }) =>
        bareTurn(one, lanes, { count: count * perCycle, ms }, perCycle, ledgers.get(one)),
      ),
    );
    const theirs = rivals.map((rival) =>
      contender(rival.name, (limits) => rivalTurn(rival, lanes, limits)),
    );
    const all = [ours, straight, ...bare, ...theirs];
    // V8 compiles what is called often, so each contender does the same number of cycles before the first that counts.
    if (lanes === scale.lanes[0]) {
      for (const one of all) await one.turn({ count: warmUp, ms: warmUpMs });
    }
    let commits = 0;
    let cycles = 0;
    const used = { cpuMs: 0, walBytes: 0 };
    for (let round = 0; round < rounds; round += 1) {
      // A different contender begins each time.
      for (let index = 0; index < all.length; index += 1) {
        const one = all[(round + index) % all.length];
        if (one === undefined) continue;
        const before = one === ours ? await bed.commits() : 0;
        const useBefore = one === ours ? await bed.server?.() : undefined;
        const { perSecond, count, cpuMs } = await one.turn(turns);
        one.rates.push(perSecond);
        one.cpuMs.push(cpuMs);
        if (one !== ours) continue;
        const use = await bed.server?.();
        used.cpuMs += (use?.cpuMs ?? 0) - (useBefore?.cpuMs ?? 0);
        used.walBytes += (use?.walBytes ?? 0) - (useBefore?.walBytes ?? 0);
        commits += (await bed.commits()) - before;
        cycles += count;
      }
    }
    report(bed, figures, {
      lanes,
      rounds,
      ours,
      straight,
      bare,
      theirs,
      perCycle,
      commits: commits / cycles,
    });
    if (bed.server !== undefined) {
      const at = `tasks/${bed.name}, ${lanes} at once: server`;
      const cpu = figures.add(`${at} CPU ms a cycle`, used.cpuMs / cycles);
      const wal = figures.add(`${at} WAL bytes a cycle`, used.walBytes / cycles);
      console.log(
        `  the server, a cycle: ${short(cpu.value)} ms CPU, ${short(wal.value)} bytes WAL`,
      );
    }
  }

  await checkLedgers(bares, ledgers);
  for (const rival of rivals) await rival.close();
}

const contender = (name: string, turn: Contender["turn"]): Contender => ({
  name,
  rates: [],
  cpuMs: [],
  turn,
});

/** What one cycle sends to the database. One cycle runs at a time, so nothing is shared. */
async function anatomy(bed: Bed, engine: Engine, figures: Figures): Promise<number> {
  const before = await bed.commits();
  bed.count.reset();
  const { count } = await loop(1, { count: 100, ms: 20_000 }, engine.cycle);
  const statements = bed.count.all();
  const commits = ((await bed.commits()) - before) / count;
  const total = [...statements.values()].reduce((sum, each) => sum + each, 0) / count;
  figures.add(`tasks/${bed.name}: commits a cycle, one at a time`, commits);
  figures.add(`tasks/${bed.name}: statements a cycle, one at a time`, total);
  console.log(`  one cycle, alone: ${short(commits)} commits, ${short(total)} statements:`);
  for (const [label, times] of [...statements].toSorted((one, two) => two[1] - one[1])) {
    if (times / count >= 0.05) console.log(`    ${short(times / count).padStart(6)}  ${label}`);
  }
  return Math.round(commits);
}

interface Ledger {
  inserts: number;
  updates: number;
}

/** As many transactions as a cycle has commits: an insert, then updates of that row. */
async function bareTurn(
  bare: Bare,
  lanes: number,
  limits: Limits,
  perCycle: number,
  ledger: Ledger | undefined,
): Promise<Rate> {
  if (ledger === undefined) throw new Error("The ledger for bare transactions is missing.");
  const rows = Array.from({ length: lanes }, () => ({ id: "", left: 0 }));
  const state = randomBytes(150).toString("base64");
  return loop(lanes, limits, async (lane) => {
    const row = rows[lane];
    if (row === undefined) return;
    if (row.left === 0) {
      row.id = randomBytes(16).toString("base64url");
      row.left = perCycle - 1;
      ledger.inserts += 1;
      await bare.insert(row.id, state);
    } else {
      row.left -= 1;
      ledger.updates += 1;
      await bare.update(row.id, state);
    }
  });
}

async function rivalTurn(rival: Rival, lanes: number, limits: Limits): Promise<Rate> {
  await rival.start(workerConcurrency);
  const rate = await loop(lanes, limits, rival.cycle);
  await rival.stop();
  return rate;
}

async function checkLedgers(
  bares: readonly Bare[],
  ledgers: ReadonlyMap<Bare, Ledger>,
): Promise<void> {
  // All bare contenders write to one table.
  const sum = (of: keyof Ledger) =>
    bares.reduce((all, one) => all + (ledgers.get(one)?.[of] ?? 0), 0);
  const found = await bares[0]?.counted();
  if (found?.rows !== sum("inserts") || found.updates !== sum("updates")) {
    throw new Error(`Some bare transactions are missing: ${JSON.stringify(found)}`);
  }
}

interface Measured {
  readonly lanes: number;
  readonly rounds: number;
  readonly ours: Contender;
  /** Create and complete, without a question. */
  readonly straight: Contender;
  readonly bare: readonly Contender[];
  readonly theirs: readonly Contender[];
  readonly perCycle: number;
  readonly commits: number;
}

function report(
  bed: Bed,
  figures: Figures,
  { lanes, rounds, ours, straight, bare, theirs, perCycle, commits }: Measured,
): void {
  const at = `tasks/${bed.name}, ${lanes} at once`;
  const ratios = (of: Contender, by: number) =>
    ours.rates.map((rate, round) => (rate * by) / (of.rates[round] ?? Number.NaN));
  figures.add(`${at}: commits a cycle`, commits);
  const speed = (name: string, { rates, cpuMs }: Contender) => [
    shown(figures.add(`${at}: ${name}/s`, ...rates)),
    shown(figures.add(`${at}: CPU ms of this process, ${name}`, ...cpuMs)),
  ];
  const against = (name: string, of: Contender, by: number) =>
    shown(figures.add(`${at}: ${by === 1 ? "" : `${by} × `}cycles ÷ ${name}`, ...ratios(of, by)));
  const each = `cycles (${short(commits)} commits each)`;
  const rows = [
    ["", "a second", "CPU ms each", "cycles ÷ these", `${perCycle} × cycles ÷ these`],
    [each, ...speed("cycles", ours), "", ""],
    [
      "create, complete",
      ...speed("straight cycles", straight),
      against("straight cycles", straight, 1),
      "",
    ],
  ];
  const [sole] = bare;
  if (sole !== undefined) {
    figures.ratio(`${at}: straight cycles ÷ bare transactions`, straight.rates, sole.rates);
    figures.add(`tasks/${bed.name}×${transitions}÷bare@${lanes}`, ...ratios(sole, transitions));
  }
  for (const one of bare) {
    const label = `${one.name} transactions`;
    rows.push([label, ...speed(label, one), against(label, one, 1), against(label, one, perCycle)]);
  }
  for (const one of theirs) {
    const label = `${one.name} cycles`;
    rows.push([label, ...speed(label, one), against(label, one, 1), ""]);
    figures.add(`tasks/${bed.name}÷${one.name}@${lanes}`, ...ratios(one, 1));
  }
  console.log(`\n  ${lanes} at once, medians of ${rounds} turns`);
  table(rows);
}
