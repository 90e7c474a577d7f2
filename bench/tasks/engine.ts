// Parley's task engine without MCP around it, but otherwise as an app runs it: with real sealing, and a worker that polls
// and sweeps as often as `app.work()` does.

import { randomBytes } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import type { Json } from "../../src/util/json.ts";
import { nodeTurns } from "../../src/replay/turns.ts";
import { defaultTaskLimits } from "../../src/tasks/limits.ts";
import type { Prepared, Program } from "../../src/tasks/program.ts";
import { TaskRuntime } from "../../src/tasks/runtime.ts";
import type { TaskStore } from "../../src/tasks/store.ts";
import type { TaskObserver } from "../../src/tasks/observer.ts";
import { newKey, parseKeys } from "../../src/token/keyring.ts";
import type { Keyring } from "../../src/token/keyring.ts";
import { openRecord, sealRecord } from "../../src/token/sealed-record.ts";

const tool = "approve";
const key = "go";
const answer = "yes, do";

const read = (value: Json) => ({ kind: "value" as const, value });

/** The carrier of a run of this tool, without MCP. */
export const carrierOf =
  (name: string, callId: string): Prepared["carrier"] =>
  (recording) => ({
    ...recording,
    name,
    callId,
    turns: nodeTurns,
    after: (ms, callback) => {
      const timer = setTimeout(callback, ms);
      return () => clearTimeout(timer);
    },
    stallMs: 5_000,
    canDetach: false,
    canYield: false,
  });

/** Takes as many steps as its input says, asks one question if it says so, and returns its input and the answer. */
const program: Program = {
  prepare: ({ callId, input }) => ({
    handler: async (given, ops) => {
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- `inputOf` made it
      const { steps, asks } = given as Input;
      for (let at = 0; at < steps; at += 1) await ops.step(`step ${at}`, () => at);
      if (!asks) return { given };
      return { given, answer: await ops.ask(key, { digest: key, shown: key, read }) };
    },
    input,
    carrier: carrierOf(tool, callId),
    mayPutOff: true,
    shown: () => ({
      kind: "question",
      request: { message: "Go on?", properties: { go: "string" } },
    }),
  }),
  ending: (outcome) =>
    outcome.kind === "done"
      ? // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it is what the handler above returns
        { status: "completed", result: outcome.value as Json }
      : { status: "failed", error: { code: -32603, message: String(outcome.error) } },
};

const wrong = (what: string) => (): never => {
  throw new Error(`The engine reported something that must not happen here: ${what}`);
};

/** As the engine reports it. */
export let leasesLost = 0;

const observer: TaskObserver = {
  created: () => {},
  finished: () => {},
  leaseLost: () => void (leasesLost += 1),
  couldNotRun: (_, error) => console.warn("  a task could not be run:", error),
  moved: wrong("moved"),
  cancelled: () => {},
  expired: () => {},
  blocked: () => {},
  limitReached: wrong("limitReached"),
  gaveUp: wrong("given up"),
  storeFailed: (error) => console.warn("  the store failed:", error),
  storeBack: () => {},
};

/** A process with this one tool. Processes that share tasks share a keyring. */
export function runtimeOf(
  store: TaskStore,
  name: string,
  only: Program,
  keyring: Keyring = newKeyring(),
): TaskRuntime {
  return new TaskRuntime({
    store,
    sealer: {
      seal: (text, place) => sealRecord(text, `bench/${place}`, keyring),
      open: (sealed, place) => openRecord(sealed, `bench/${place}`, keyring),
    },
    programs: { names: () => [name], get: (wanted) => (wanted === name ? only : undefined) },
    limits: defaultTaskLimits,
    observer,
    newId,
  });
}

export const newKeyring = (): Keyring => parseKeys([newKey("bench")]);

export class Engine {
  readonly runtime: TaskRuntime;
  #tasks = 0;

  constructor(store: TaskStore, keyring?: Keyring) {
    this.runtime = runtimeOf(store, tool, program, keyring);
  }

  readonly start = (concurrency: number): Promise<boolean> =>
    this.runtime.start({ name: newId(), concurrency, pollMs: 1_000, sweepMs: 30_000 });

  readonly stop = (): Promise<void> => this.runtime.drain();

  /** Creates a task, sees it parked, answers it, sees it completed, and checks the result. */
  readonly cycle = async (): Promise<void> => {
    await this.#follow(await this.#create("", true));
  };

  /** Creates a task, sees it completed, and checks the result. */
  readonly straight = async (): Promise<void> => {
    await this.#follow(await this.#create("", false));
  };

  /** A cycle of a task that records steps before its question. */
  readonly withSteps = async (steps: number): Promise<void> => {
    await this.#follow(await this.#create("", true, steps));
  };

  /** Creates a task without watching it. Each principal has a hundred of them. */
  readonly park = (): Promise<Parked> =>
    this.#create(`principal ${Math.floor(this.#tasks / 100)}`, true);

  /** Answers a parked task. Resolves with the milliseconds until its completion is seen. */
  readonly complete = async (task: Parked): Promise<number> => {
    const start = performance.now();
    await this.#follow(task);
    return performance.now() - start;
  };

  async #create(principal: string, asks: boolean, steps = 0): Promise<Parked> {
    const input = inputOf((this.#tasks += 1), asks, steps);
    const { id } = await this.runtime.create({
      callId: newId(),
      tool,
      principal,
      input,
      entries: [],
      unused: [],
      ttlMs: undefined,
    });
    return { id, input };
  }

  async #follow({ id, input }: Parked): Promise<void> {
    const ending = new AbortController();
    const watch = this.runtime.watch(id, 0, ending.signal);
    const timeout = setTimeout(() => ending.abort(), 60_000);
    try {
      for await (const { status, questions, result } of watch) {
        if (status === "completed") return check(result, input);
        if (!questions.has(key)) continue;
        const taken = await this.runtime.update(id, new Map([[key, answer]]));
        if (taken?.accepted[0] !== key) throw new Error("The answer was not accepted.");
      }
    } finally {
      clearTimeout(timeout);
    }
    throw new Error(`Task ${input.number} was not completed.`);
  }
}

interface Input {
  readonly [member: string]: Json;
  readonly number: number;
  readonly text: string;
  readonly asks: boolean;
  readonly steps: number;
}

const inputOf = (number: number, asks: boolean, steps: number): Input => ({
  number,
  text: "some forty characters of arguments, or so",
  asks,
  steps,
});

export interface Parked {
  readonly id: string;
  readonly input: Input;
}

function check(result: Json | undefined, given: Input): void {
  const right = given.asks ? { given, answer } : { given };
  if (!isDeepStrictEqual(result, right)) {
    throw new Error(`Wrong result of task ${given.number}: ${JSON.stringify(result)}`);
  }
}

export function newId(): string {
  return randomBytes(16).toString("base64url");
}
