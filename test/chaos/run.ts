// One run: replicas on a real store, a client, faults, and the verdict.

import { writeFileSync } from "node:fs";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import type { Json } from "../../src/util/json.ts";
import { readUndone } from "../../src/tasks/execution/log-records.ts";
import type { TaskStore } from "../../src/tasks/store.ts";
import { openJson, places } from "../../src/tasks/sealing.ts";
import type { Sealer } from "../../src/tasks/sealing.ts";
import { startPooler } from "../pgbouncer/pooler.ts";
import type { Pooler } from "../pgbouncer/pooler.ts";
import { startPostgres } from "../postgres/start.ts";
import { build } from "../../bench/build.ts";
import { scriptOf } from "../programs.ts";
import { isInRun } from "../run/shared.ts";
import { keepParts, partsLeft, readHere, StreamReaders } from "./streams.ts";
import { Chance } from "./chance.ts";
import { Client } from "./client.ts";
import { readEvidence } from "./evidence.ts";
import { handlers, rivals, streamHandlers } from "./handlers.ts";
import { Harm } from "./harm.ts";
import type { Deeds } from "./harm.ts";
import { countsIn, violationsIn } from "./invariants.ts";
import type { Counts, Final, Findings, Heard, Violation } from "./invariants.ts";
import { Keeper, Replica, Replicas } from "./replicas.ts";
import type { Log } from "./replicas.ts";
import { sabotaged } from "./sabotage.ts";
import type { Sabotage } from "./sabotage.ts";
import { openStore, sealerFor } from "./setting.ts";
import type { Setting, StoreKind } from "./setting.ts";
import { entryTold } from "./told.ts";
import { isDoomed } from "./witness.ts";

export interface ChaosOptions {
  readonly store: StoreKind;
  readonly tasks: number;
  /** The handlers to use. Undefined: all of them. */
  readonly tools?: readonly string[] | undefined;
  /** How many tasks are under way at once. */
  readonly atOnce: number;
  readonly replicas: number;
  readonly seed: string;
  readonly leaseMs: number;
  readonly sabotage: Sabotage | undefined;
  readonly mostMs: number;
  /** The time from one fault to the next. */
  readonly gapMs: number;
  /** The shares of kills and pauses among the faults. */
  readonly kills: number;
  readonly pauses: number;
  /** The number of faults after which the replicas are left alone. Undefined: never. */
  readonly mostDeeds?: number | undefined;
  /** Whether Postgres itself is killed and restarted from time to time. */
  readonly outages?: boolean | undefined;
  /**
   * The share of the tasks that the client cancels. Undefined: none. If there is one, most steps have an undo, and some
   * handlers throw.
   */
  readonly cancels?: number | undefined;
  /** Whether the tasks stream, and readers follow them. Undefined: no, unless `tools` names one that streams. */
  readonly streams?: boolean | undefined;
  /** Whether short calls of `runDue` take the place of every worker. Undefined: no. */
  readonly runDue?: boolean | undefined;
  /** Whether a PgBouncer in transaction mode stands before Postgres. Undefined: no. */
  readonly pooled?: boolean | undefined;
  readonly log: Log;
  /** Where to keep the evidence. Undefined: it is removed after the run. */
  readonly evidence: string | undefined;
}

export interface Report {
  readonly deeds: Deeds;
  readonly counts: Counts;
  readonly violations: readonly Violation[];
  readonly seconds: number;
  /** The errors that the run survived, by their text. */
  readonly mishaps: ReadonlyMap<string, number>;
}

export async function chaos(options: ChaosOptions): Promise<Report> {
  const folder = await mkdtemp(join(tmpdir(), "parley-chaos-"));
  const keeper = new Keeper(folder);
  try {
    const replica = "test/chaos/replica.ts";
    const script = isInRun() ? scriptOf(replica) : (await build(folder, [replica]))(replica);
    const postgres = options.store === "postgres" ? await startPostgres() : undefined;
    const isPooled = postgres !== undefined && options.pooled === true;
    let pooler: Pooler | undefined;
    try {
      pooler = isPooled ? await startPooler(postgres) : undefined;
      const setting: Setting = {
        store: options.store,
        place: (pooler ?? postgres)?.url ?? join(folder, "tasks.db"),
        isPooled,
        leaseMs: options.leaseMs,
        sabotage: options.sabotage,
        evidence: options.evidence ?? join(folder, "evidence.jsonl"),
        concurrency: 16,
        undoes: (options.cancels ?? 0) > 0,
        runDue: options.runDue === true,
      };
      const outage =
        postgres === undefined || options.outages !== true
          ? undefined
          : async () => {
              postgres.kill();
              await postgres.restart();
            };
      return await inSetting(setting, script, keeper, options, outage);
    } finally {
      await pooler?.stop();
      await postgres?.stop();
    }
  } finally {
    await keeper.close();
  }
}

async function inSetting(
  setting: Setting,
  script: string,
  keeper: Keeper,
  options: ChaosOptions,
  outage: (() => Promise<void>) | undefined,
): Promise<Report> {
  const { sabotage, replicas: wanted, leaseMs, gapMs, kills, pauses, tasks } = options;
  const mishaps = new Map<string, number>();
  const crashes: string[] = [];
  const log: Log = (line) => {
    if (line.startsWith("crashed ")) crashes.push(line);
    else mishaps.set(line, (mishaps.get(line) ?? 0) + 1);
  };
  const sealer = sealerFor(setting);
  const chance = new Chance(options.seed);
  const store = openStore(setting);
  await store.migrate();
  writeFileSync(setting.evidence, "");
  const replicas = new Replicas(wanted, (name) => new Replica(script, name, setting, keeper, log));
  const kill = () => replicas.kill();
  process.once("exit", kill);
  const harm = new Harm(replicas, chance.of("harm"), {
    gapMs,
    leaseMs,
    kills,
    pauses,
    outage,
    most: options.mostDeeds ?? Infinity,
  });
  const tools = options.tools ?? Object.keys(options.streams === true ? streamHandlers : handlers);
  const streams = tools.some((tool) => tool in streamHandlers);
  const readStores = streams ? [1, 2, 3].map(() => openStore(setting)) : [];
  const readers = new StreamReaders(
    readStores.map((one) => sabotaged(one, sealer, sabotage)),
    sealer,
    chance.of("readers"),
    sabotage === "stream-reset",
  );
  if (sabotage === "stream-delete") await keepParts(setting);
  try {
    replicas.fill();
    await replicas.settled();
    const client = new Client({
      store: sabotaged(store, sealer, sabotage),
      sealer,
      replicas,
      chance: chance.of("client"),
      log,
      tasks,
      tools,
      onCreated: streams ? readers.follow : undefined,
      most: options.atOnce,
      cancels: options.cancels ?? 0,
    });
    const start = performance.now();
    const over = AbortSignal.timeout(options.mostMs);
    const progress = setInterval(() => {
      const { kills: killed, pauses: paused } = harm.deeds;
      const seconds = Math.round((performance.now() - start) / 1000);
      options.log(
        `${seconds} s: ${client.over} of ${tasks} over, ${client.stuck} stuck, ` +
          `${killed} kills, ${paused} pauses`,
      );
    }, 5_000);
    harm.start();
    try {
      await client.run(over);
    } finally {
      clearInterval(progress);
      await harm.stop();
    }
    await readers.done(AbortSignal.any([over, AbortSignal.timeout(15_000)]));
    // The stopped replicas wake up now, and must not spoil anything either.
    await replicas.close();
    const seconds = (performance.now() - start) / 1000;
    const finals = await Promise.all(client.calls.map((call) => finalOf(store, sealer, call)));
    const evidence = readEvidence(setting.evidence);
    const { answers, cancels } = client;
    const doomed = new Set(
      client.calls.flatMap(({ callId }) => (setting.undoes && isDoomed(callId) ? [callId] : [])),
    );
    const findings: Findings = { finals, evidence, answers, rivals, crashes, cancels, doomed };
    const left = streams ? await partsLeft(setting) : 0;
    const violations = [
      ...violationsIn(findings),
      ...readHere(evidence),
      ...(await readers.violations((callId) => recordedStreams(store, sealer, callId))),
      ...(left === 0
        ? []
        : [{ wrong: "part left behind", task: "", what: `${left} parts` } as const]),
    ];
    return { deeds: harm.deeds, counts: countsIn(findings), violations, seconds, mishaps };
  } finally {
    replicas.kill();
    process.off("exit", kill);
    await Promise.all([store, ...readStores].map((one) => one.close()));
  }
}

/** The text of each stream that the log of a call has. */
async function recordedStreams(
  store: TaskStore,
  sealer: Sealer,
  callId: string,
): Promise<Readonly<Record<string, string>>> {
  const record = await store.readByCall(callId);
  const log = record === undefined ? [] : await store.readLog(record.id);
  const { entries } = readUndone(sealer, callId, log);
  return Object.fromEntries(
    entries.flatMap((entry) =>
      entry.kind === "step" && entry.isStream === true
        ? [[entry.key, typeof entry.value === "string" ? entry.value : ""]]
        : [],
    ),
  );
}

async function finalOf(
  store: TaskStore,
  sealer: Sealer,
  { callId, tool }: { readonly callId: string; readonly tool: string },
): Promise<Final> {
  const record = await store.readByCall(callId);
  if (record === undefined) {
    return {
      task: callId,
      tool,
      status: undefined,
      error: undefined,
      result: undefined,
      history: [],
      begun: [],
      undone: [],
      state: "",
    };
  }
  const { status, result, worker, dueAt, waits, inbox } = record;
  const ended = result === undefined ? null : openJson(sealer, result, places.result(callId));
  const log = await store.readLog(record.id);
  const { entries, undone } = readUndone(sealer, callId, log);
  const history = entries.flatMap((entry) => entryTold(entry) ?? []);
  const begun = entries.flatMap(({ kind, key }) => (kind === "begun" ? [key] : []));
  return {
    task: callId,
    tool,
    status,
    history,
    begun,
    undone,
    state:
      `worker ${worker ?? "none"}, due ${dueAt ?? "never"}, ` +
      `waits for ${waits.map(({ wire }) => wire).join(", ") || "nothing"}, ` +
      `has ${inbox.map(({ id }) => id).join(", ") || "nothing"}`,
    error: status === "completed" ? undefined : JSON.stringify(ended),
    result: status === "completed" ? heardIn(ended) : undefined,
  };
}

/** The form that the witness notes it in. */
function heardIn(result: Json): readonly Heard[] | undefined {
  if (!Array.isArray(result)) return undefined;
  return result.flatMap((pair: unknown): Heard[] =>
    Array.isArray(pair) ? [{ key: String(pair[0]), value: String(pair[1]) }] : [],
  );
}
