// A task engine without MCP around it: handlers on bare operations, and a sealer that only checks the places.

import { randomBytes } from "node:crypto";
import type { Operations } from "../replay/operations.ts";
import type { Json } from "../util/json.ts";
import { nodeTurns } from "../replay/turns.ts";
import { defaultTaskLimits } from "./limits.ts";
import type { TaskLimits } from "./limits.ts";
import type { Program, UndoRun } from "./program.ts";
import { TaskRuntime } from "./runtime.ts";
import type { Promotion } from "./runtime.ts";
import type { TaskSnapshot } from "./snapshot.ts";
import type { StreamPart } from "./streams/pieces.ts";
import type { TaskStore } from "./store.ts";
import type { Sealer } from "./sealing.ts";
import type { TaskObserver } from "./observer.ts";
import type { WorkerOptions } from "./worker.ts";
import { workerName } from "./worker-name.ts";

export type Handler = (
  input: Json,
  ops: Operations,
  report: (message: string) => void,
  stream: (part: StreamPart) => void,
) => unknown;
/** Undos by name. */
export type Undos = Readonly<Record<string, UndoRun>>;
export type Handlers = Readonly<Record<string, Handler>>;

export const openSealer: Sealer = {
  seal: (text, place) =>
    `${Buffer.from(place).toString("base64url")}.${Buffer.from(text).toString("base64url")}`,
  open: (sealed, place) => {
    const [where = "", what = ""] = sealed.split(".");
    if (Buffer.from(where, "base64url").toString() !== place) {
      throw Object.assign(new Error("another place"), { reason: "forged" });
    }
    return Buffer.from(what, "base64url").toString();
  },
};

const textOf = (error: unknown) => (error instanceof Error ? error.message : String(error));

function programOf(name: string, handler: Handler, stallMs: number, undos: Undos): Program {
  return {
    undo: (undo) => undos[undo],
    prepare: ({ callId, input, report, stream }) => ({
      handler: (given, ops) => handler(given as Json, ops, report, stream),
      input,
      carrier: (recording) => ({
        ...recording,
        name,
        callId,
        turns: nodeTurns,
        after: (ms, callback) => {
          const timer = setTimeout(callback, ms);
          return () => clearTimeout(timer);
        },
        stallMs,
        canDetach: false,
        canYield: false,
      }),
      mayPutOff: true,
      shown: ({ key, shown }) =>
        shown === "external" ? { kind: "external" } : { kind: "question", request: { ask: key } },
    }),
    ending: (outcome) =>
      outcome.kind === "done"
        ? { status: "completed", result: (outcome.value ?? null) as Json }
        : { status: "failed", error: { code: -32603, message: textOf(outcome.error) } },
  };
}

export interface Told {
  readonly event: string;
  readonly error?: unknown;
}

export class Engine {
  readonly runtime: TaskRuntime;
  readonly store: TaskStore;
  readonly told: Told[] = [];
  readonly #version: string | undefined;

  constructor(
    store: TaskStore,
    handlers: Handlers,
    options: {
      readonly limits?: Partial<TaskLimits>;
      readonly sealer?: Sealer;
      readonly stallMs?: number;
      readonly version?: string;
      readonly undos?: Undos;
    } = {},
  ) {
    this.store = store;
    this.#version = options.version;
    const programs = new Map(
      Object.entries(handlers).map(([name, handler]) => [
        name,
        programOf(name, handler, options.stallMs ?? 20, options.undos ?? {}),
      ]),
    );
    const tell =
      (event: string) =>
      (_task: unknown, error?: unknown): void =>
        void this.told.push({ event, error });
    const observer: TaskObserver = {
      created: tell("created"),
      finished: tell("finished"),
      cancelled: tell("cancelled"),
      expired: (count) => void this.told.push({ event: "expired", error: count }),
      leaseLost: tell("leaseLost"),
      couldNotRun: tell("couldNotRun"),
      diverged: tell("diverged"),
      moved: tell("moved"),
      limitReached: (_principal, limit) => void this.told.push({ event: limit }),
      gaveUp: tell("gaveUp"),
      undone: tell("undone"),
      undoDelayed: (_task, step, error) =>
        void this.told.push({ event: `undoDelayed ${step}`, error }),
      undoFailed: tell("undoFailed"),
      blocked: (what) => void this.told.push({ event: "blocked", error: what }),
      storeFailed: (error) => void this.told.push({ event: "storeFailed", error }),
      storeBack: () => void this.told.push({ event: "storeBack" }),
    };
    this.runtime = new TaskRuntime({
      store,
      sealer: options.sealer ?? openSealer,
      programs: { names: () => [...programs.keys()], get: (name) => programs.get(name) },
      limits: { ...defaultTaskLimits, ...options.limits },
      observer,
      isDevelopment: true,
      newId: () => randomBytes(16).toString("hex"),
      version: options.version,
    });
  }

  start(options: Partial<WorkerOptions> = {}): Promise<boolean> {
    return this.runtime.start({
      name: this.#name(),
      concurrency: 16,
      pollMs: 250,
      sweepMs: 1_000,
      ...options,
    });
  }

  #name(): string {
    const name = `w-${randomBytes(4).toString("hex")}`;
    return this.#version === undefined ? name : workerName(name, this.#version);
  }

  create(tool: string, input: Json = null, more: Partial<Promotion> = {}): Promise<TaskSnapshot> {
    return this.runtime.create({
      callId: randomBytes(16).toString("hex"),
      tool,
      principal: undefined,
      input,
      entries: [],
      unused: [],
      ttlMs: undefined,
      ...more,
    });
  }

  /** Follows the task until it looks like this. Fails after a while. */
  async until(
    id: string,
    isIt: (task: TaskSnapshot) => boolean,
    ms = 30_000,
  ): Promise<TaskSnapshot> {
    let last: TaskSnapshot | undefined;
    for await (const task of this.runtime.watch(id, 0, AbortSignal.timeout(ms))) {
      last = task;
      if (isIt(task)) return task;
    }
    throw new Error(`not within ${ms} ms; last seen: ${JSON.stringify(last)}`);
  }

  over(id: string): Promise<TaskSnapshot> {
    return this.until(id, ({ status }) => !["working", "input_required"].includes(status));
  }

  asked(id: string, ...wires: string[]): Promise<TaskSnapshot> {
    return this.until(id, ({ questions }) => wires.every((wire) => questions.has(wire)));
  }

  answer(id: string, answers: Readonly<Record<string, Json>>): Promise<unknown> {
    return this.runtime.update(id, new Map(Object.entries(answers)));
  }

  async close(): Promise<void> {
    await this.runtime.drain();
  }
}

/** A question whose answer is text. The answer "bad" is not valid. */
export function ask(
  ops: Operations,
  key: string,
  options: { timeoutMs?: number; wording?: string } = {},
) {
  return ops.ask(key, {
    digest: options.wording ?? key,
    timeoutMs: options.timeoutMs,
    read: (raw) =>
      raw === "bad" ? { kind: "invalid", reason: "bad" } : { kind: "value", value: raw },
    shown: "question",
  });
}

export function external(ops: Operations, key: string) {
  return ops.ask(key, {
    digest: `external ${key}`,
    read: (raw) =>
      raw === "bad" ? { kind: "invalid", reason: "bad" } : { kind: "value", value: raw },
    shown: "external",
  });
}
