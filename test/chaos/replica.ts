// One replica: a worker on the real store, in a process that may be killed or stopped at any moment.
//
// It reads lines from its standard input: a call that should become a task, or "end" to drain. It writes "ready", and the
// id of a call when its task is created. It ends when its standard input ends, so it never outlives its parent.

import { randomBytes } from "node:crypto";
import process from "node:process";
import { createInterface } from "node:readline";
import { setTimeout as pause } from "node:timers/promises";
import { toJson } from "../../src/util/json.ts";
import { nodeTurns } from "../../src/replay/turns.ts";
import { Lease } from "../../src/tasks/execution/lease-time.ts";
import type { Program, TaskFacts } from "../../src/tasks/program.ts";
import { TaskRuntime } from "../../src/tasks/runtime.ts";
import type { Promotion } from "../../src/tasks/runtime.ts";
import { Chance } from "./chance.ts";
import { monotonic, noteTo } from "./evidence.ts";
import { handlers, streamHandlers } from "./handlers.ts";
import type { ChaosHandler } from "./handlers.ts";
import { breakLeases, sabotaged } from "./sabotage.ts";
import { limits, openStore, silentObserver, sealerFor } from "./setting.ts";
import type { Setting } from "./setting.ts";
import { Held } from "./held.ts";
import { isDoomed, takeBack, undoName, Witness } from "./witness.ts";

const { name, setting }: { readonly name: string; readonly setting: Setting } = JSON.parse(
  process.argv[2] ?? "{}",
);

for (const event of ["uncaughtException", "unhandledRejection"]) {
  process.on(event, (error: unknown) => {
    say(`crashed ${error instanceof Error ? error.stack : String(error)}`);
    process.exitCode = 1;
    process.stdout.write("", () => process.exit());
  });
}

const note = noteTo(setting.evidence);
const chance = new Chance(name);

function programOf(tool: string, handler: ChaosHandler): Program {
  return {
    prepare: async (facts) => {
      // A program may have to look something up first. A pause hurts most here, after the claim and before the start.
      await pause(chance.between(0, 150));
      const { undoes } = setting;
      const { stream } = facts;
      const scene = { task: facts.callId, worker: name, note, checkedAt, undoes, stream };
      if (tool in streamHandlers) void readHere(facts);
      return {
        handler: async (_input, ops) => {
          const act = new Witness(ops, scene);
          await handler(act);
          if (undoes && isDoomed(facts.callId)) throw new Error("This call is doomed.");
          return act.heard;
        },
        input: facts.input,
        carrier: (recording) => ({
          ...recording,
          name: tool,
          callId: facts.callId,
          turns: nodeTurns,
          after,
          stallMs: 500,
          canDetach: false,
          canYield: false,
        }),
        shown: ({ key, shown }) =>
          shown === "external" ? { kind: "external" } : { kind: "question", request: { key } },
      };
    },
    undo: (undo) =>
      undo === undoName ? (info) => takeBack(info, { worker: name, note, checkedAt }) : undefined,
    ending: (outcome) =>
      outcome.kind === "done"
        ? { status: "completed", result: toJson(outcome.value) ?? null }
        : { status: "failed", error: { code: -32603, message: String(outcome.error) } },
  };
}

let lastCheck = Infinity;
const checkedAt = () => lastCheck;

/** Notes when a lease is checked. The time is taken before the check, so that a pause in between counts. */
function watchLeases(): void {
  const isOver = Object.getOwnPropertyDescriptor(Lease.prototype, "isOver");
  if (isOver?.get === undefined) throw new Error("Lease has no getter isOver any more.");
  Object.defineProperty(Lease.prototype, "isOver", {
    get(this: Lease): unknown {
      lastCheck = monotonic();
      // The check counts for what starts right after it, not for what starts later.
      setImmediate(() => {
        lastCheck = Infinity;
      });
      return isOver.get?.call(this);
    },
  });
}

watchLeases();
if (setting.sabotage === "lease") breakLeases();

const store = openStore(setting);
const sealer = sealerFor(setting);
const programs = new Map(
  Object.entries({ ...handlers, ...streamHandlers }).map(([tool, handler]) => [
    tool,
    programOf(tool, handler),
  ]),
);
const runtime = new TaskRuntime({
  store: sabotaged(store, sealer, setting.sabotage),
  sealer,
  programs: { names: () => [...programs.keys()], get: (tool) => programs.get(tool) },
  limits,
  observer: {
    ...silentObserver,
    couldNotRun: (task, error) => say(`couldNotRun ${task.tool} ${String(error)}`),
    storeFailed: (error) => say(`storeFailed ${String(error)}`),
  },
  newId: () => randomBytes(16).toString("hex"),
});

const ending = { isNow: false };
const lines = createInterface({ input: process.stdin });
lines.on("line", (line) => void (line === "end" ? end() : create(JSON.parse(line))));
lines.on("close", () => process.exit(1));

await start();

async function start(): Promise<void> {
  try {
    if (setting.runDue) {
      await runtime.ready();
      void runDueAgain();
    } else {
      const { concurrency } = setting;
      await runtime.start({ name, concurrency, pollMs: 250, sweepMs: 5_000 });
    }
    say("ready");
  } catch (error) {
    // The store may come back, so this is not the end.
    say(`storeFailed ${String(error)}`);
    await pause(200);
    await start();
  }
}

/** One short run after the other, each under a name of its own, as from a function that is thrown away. */
async function runDueAgain(): Promise<void> {
  for (let count = 0; !ending.isNow; count += 1) {
    const budgetMs = limits.drainMs + chance.between(50, 1_500);
    const run = { name: `${name}-${count}`, concurrency: setting.concurrency, budgetMs };
    await runtime.process.runDue(run).catch((error: unknown) => {
      say(`storeFailed ${String(error)}`);
    });
    await pause(chance.between(5, 100));
  }
}

const reading = new Set<string>();

/** Reads the streams of a task that runs here: from memory, and from the store once another replica has the task. */
async function readHere({ id, callId }: TaskFacts): Promise<void> {
  if (reading.has(id)) return;
  reading.add(id);
  const held = new Held();
  try {
    const parts = runtime.readStreams({ id, callId }, undefined, new AbortController().signal);
    for await (const part of parts) held.take(part);
  } catch {
    // The store may be out of reach.
  }
  reading.delete(id);
  const { mixed: text } = held;
  if (text !== undefined && setting.sabotage !== "stream-reset") {
    note({ kind: "mixed", at: monotonic(), task: callId, run: name, text });
  }
}

/** Without an acknowledgement, the client tries another replica. */
async function create(call: Promotion): Promise<void> {
  try {
    await runtime.create(call);
    say(`created ${call.callId}`);
  } catch (error) {
    say(`storeFailed ${String(error)}`);
  }
}

async function end(): Promise<void> {
  ending.isNow = true;
  await runtime.drain();
  await store.close();
  process.exit(0);
}

function say(line: string): void {
  process.stdout.write(`${line.replaceAll("\n", " ")}\n`);
}

function after(ms: number, callback: () => void): () => void {
  const timer = setTimeout(callback, ms);
  return () => clearTimeout(timer);
}
