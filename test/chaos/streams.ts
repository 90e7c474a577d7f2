// Readers of streams that disconnect and go on elsewhere, and what they must never hold.

import pg from "pg";
import { setTimeout as pause } from "node:timers/promises";
import { TaskRuntime } from "../../src/tasks/runtime.ts";
import { loadDriver } from "../../src/tasks/stores/sqlite/driver.ts";
import type { Sealer } from "../../src/tasks/sealing.ts";
import type { TaskStore } from "../../src/tasks/store.ts";
import type { Chance } from "./chance.ts";
import { Held } from "./held.ts";
import type { Evidence } from "./evidence.ts";
import type { Violation } from "./invariants.ts";
import { limits, silentObserver } from "./setting.ts";
import type { Setting } from "./setting.ts";

interface Read {
  readonly callId: string;
  readonly id: string;
  held: Held;
  mixed: string | undefined;
  isDone: boolean;
}

export class StreamReaders {
  readonly #runtimes: readonly TaskRuntime[];
  readonly #chance: Chance;
  readonly #ignoresResets: boolean;
  readonly #reads: Read[] = [];
  readonly #running: Promise<void>[] = [];
  #isClosed = false;

  /** Each store stands for a replica. */
  constructor(
    stores: readonly TaskStore[],
    sealer: Sealer,
    chance: Chance,
    ignoresResets: boolean,
  ) {
    this.#chance = chance;
    this.#ignoresResets = ignoresResets;
    this.#runtimes = stores.map(
      (store) =>
        new TaskRuntime({
          store,
          sealer,
          programs: { names: () => [], get: () => undefined },
          limits,
          observer: silentObserver,
          newId: () => "",
        }),
    );
  }

  readonly follow = ({ id, callId }: { readonly id: string; readonly callId: string }): void => {
    const read = { id, callId, held: new Held(), mixed: undefined, isDone: false };
    this.#reads.push(read);
    this.#running.push(this.#follow(read));
  };

  /** Waits until every reader has read its task to the end, or the signal aborts. */
  async done(signal: AbortSignal): Promise<void> {
    const aborted = new Promise((resolve) => {
      if (signal.aborted) resolve(undefined);
      signal.addEventListener("abort", resolve);
    });
    await Promise.race([Promise.all(this.#running), aborted]);
    this.#isClosed = true;
    await Promise.all(this.#running);
  }

  async violations(
    recorded: (callId: string) => Promise<Readonly<Record<string, string>>>,
  ): Promise<Violation[]> {
    const found = this.#reads.map(async (read) => differing(read, await recorded(read.callId)));
    return (await Promise.all(found)).flat();
  }

  async #follow(read: Read): Promise<void> {
    const chance = this.#chance.of(read.callId);
    let cursor: string | undefined;
    while (!read.isDone && !this.#isClosed) {
      const runtime = chance.pick(this.#runtimes);
      if (runtime === undefined) return;
      const held = new Held(read.held.blocks);
      // Half of the readings are cut off, and what they brought is discarded.
      const stop = new AbortController();
      const isCutOff = chance.isIt(0.5);
      const timer = setTimeout(() => stop.abort(), chance.between(20, isCutOff ? 800 : 3_000));
      const reading = runtime.readStreams(read, cursor, stop.signal);
      try {
        let next = await reading.next();
        for (; next.done !== true; next = await reading.next()) {
          if (isCutOff && stop.signal.aborted) break;
          if (!(this.#ignoresResets && next.value.op === "reset")) held.take(next.value);
        }
        read.mixed ??= held.mixed;
        const end = next.done === true ? next.value : undefined;
        if (end === undefined || (isCutOff && stop.signal.aborted)) {
          await pause(20);
          continue;
        }
        read.held = held;
        cursor = end.cursor;
        const { status } = end.task;
        read.isDone = status !== "working" && status !== "input_required";
        if (status === "input_required") await pause(50);
      } catch {
        // The store may be out of reach.
        await pause(100);
      } finally {
        stop.abort();
        clearTimeout(timer);
        await reading.return(undefined);
      }
    }
  }
}

function differing(
  { callId: task, held, mixed, isDone }: Read,
  recorded: Readonly<Record<string, string>>,
): Violation[] {
  const violations: Violation[] = [];
  if (mixed !== undefined) violations.push({ wrong: "stream mixed", task, what: mixed });
  const has = sorted(Object.fromEntries(held.blocks));
  const wanted = sorted(recorded);
  if (isDone && has !== wanted) {
    const what = `a reader has ${has}, and recorded is ${wanted}`;
    violations.push({ wrong: "stream differs", task, what });
  }
  if (!isDone)
    violations.push({ wrong: "stream differs", task, what: "it was not read to its end" });
  return violations;
}

const sorted = (blocks: Readonly<Record<string, string>>): string =>
  JSON.stringify(blocks, Object.keys(blocks).toSorted());

/** What readers in the replicas themselves noted. */
export function readHere(evidence: readonly Evidence[]): Violation[] {
  return evidence.flatMap((one) =>
    one.kind === "mixed"
      ? [{ wrong: "stream mixed", task: one.task, what: one.text } as const]
      : [],
  );
}

// ---------------------------------------------------------------- the table of parts

/** How many parts are in the table. Nothing runs, so there should be none. */
export async function partsLeft(setting: Setting): Promise<number> {
  const [row] = await rawSql(setting, `select count(*) as n from ${tableOf(setting)}`);
  return Number(row?.["n"]);
}

/** Lets the parts of an ended claim stay. */
export async function keepParts(setting: Setting): Promise<void> {
  const on = setting.store === "sqlite" ? "" : " on parley.tasks";
  await rawSql(setting, `drop trigger task_parts_end${on}`);
}

const tableOf = ({ store }: Setting) => (store === "sqlite" ? "task_parts" : "parley.task_parts");

async function rawSql(
  { store, place }: Setting,
  sql: string,
): Promise<readonly Readonly<Record<string, unknown>>[]> {
  if (store === "sqlite") {
    const database = (await loadDriver())(place);
    try {
      database.exec("pragma busy_timeout = 10000");
      return database.prepare(sql).all();
    } finally {
      database.close();
    }
  }
  const client = new pg.Client({ connectionString: place });
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(sql)).rows;
  } finally {
    await client.end();
  }
}
