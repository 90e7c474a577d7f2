// The operations of a handler. Each of them notes what happened.

import { randomBytes } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import type { Operations, StepInfo } from "../../src/replay/operations.ts";
import type { TaskFacts, UndoInfo } from "../../src/tasks/program.ts";
import { Chance } from "./chance.ts";
import { monotonic } from "./evidence.ts";
import type { Note } from "./evidence.ts";
import { pieceOf } from "./stream-text.ts";
import { errorTold, told } from "./told.ts";

export interface StepShape {
  /** The shortest and the longest time that the body takes. */
  readonly ms?: readonly [number, number];
  readonly throws?: boolean;
  /** Whether the first attempt of every run throws. */
  readonly retries?: number;
}

export interface Scene {
  readonly task: string;
  readonly worker: string;
  readonly note: Note;
  /** When the lease was last checked for what starts now. Infinity if it was not. */
  readonly checkedAt: () => number;
  /** Whether most steps have an undo. */
  readonly undoes: boolean;
  /** Takes what streams produce. */
  readonly stream: TaskFacts["stream"];
}

/** The name of the undo of all steps. */
export const undoName = "remove";

/** Whether the handler of this task throws at its end, if steps have undos at all. */
export const isDoomed = (task: string): boolean => new Chance(task).of("doom").isIt(0.15);

/** The undo of a step. Some fail the first time. */
export async function takeBack(
  { callId, stepKey, undoKey, value, attempt }: UndoInfo,
  { worker, note, checkedAt }: Pick<Scene, "worker" | "note" | "checkedAt">,
): Promise<void> {
  const at = monotonic();
  const noted = { task: callId, run: worker, key: stepKey };
  note({
    kind: "undoing",
    ...noted,
    at,
    undoKey,
    value: typeof value === "string" ? value : undefined,
    checkedAt: Math.min(at, checkedAt()),
  });
  const chance = new Chance(callId).of(`undo of ${stepKey}`);
  await pause(chance.between(5, 120));
  if (chance.isIt(0.1) && attempt === 1) throw new Error("not yet");
  note({ kind: "undone", ...noted, at: monotonic() });
}

/** An answer that is not valid, so that the question is asked again. */
export const badAnswer = "bad";

/** The digest only says who may answer a question, because the wording is not tested here. */
export const digestOf = (key: string): string => `wording of ${key}`;

export class Witness {
  /** What this run received, which is the result of the handler. */
  readonly heard: [key: string, value: string][] = [];
  readonly #ops: Operations;
  readonly #scene: Scene;
  readonly #run = randomBytes(6).toString("hex");
  readonly #chance: Chance;

  constructor(ops: Operations, scene: Scene) {
    this.#ops = ops;
    this.#scene = scene;
    // This is the same in every run of the task.
    this.#chance = new Chance(scene.task);
    scene.note({ kind: "run", ...this.#noted(), worker: scene.worker });
  }

  /** A random value that is always the same for this name. */
  readonly length = (name: string, low: number, high: number): number =>
    Math.round(this.#chance.of(name).between(low, high));

  readonly step = (key: string, shape: StepShape = {}): Promise<unknown> => {
    const { retries } = shape;
    const undo = this.#hasUndo(key) ? undoName : undefined;
    const options =
      retries === undefined ? { undo } : { undo, retries, backoffMs: this.length(key, 50, 300) };
    const outcome = this.#ops.step(key, (info) => this.#body(key, info, shape), options);
    return this.#hear(key, outcome, told.step);
  };

  /** A stream. With `retries`, its first attempt fails halfway. */
  readonly stream = (key: string, { retries = 0 }: Pick<StepShape, "retries"> = {}) => {
    const options = { streams: "stream", retries, backoffMs: 50 } as const;
    const outcome = this.#ops.step(key, (info) => this.#streamed(key, info, retries), options);
    return this.#hear(key, outcome, told.stream);
  };

  readonly ask = (key: string, options: { timeoutMs?: number } = {}): Promise<unknown> =>
    this.#hear(key, this.#question(key, "question", options.timeoutMs), told.answer);

  readonly external = (key: string): Promise<unknown> =>
    this.#hear(key, this.#question(key, "external", undefined), told.answer);

  readonly sleep = (key: string, low: number, high: number): Promise<unknown> =>
    this.#hear(key, this.#ops.sleep(key, this.length(key, low, high)), () => told.timer);

  #hasUndo(key: string): boolean {
    return this.#scene.undoes && this.#chance.of(`has ${key} an undo`).isIt(0.7);
  }

  #question(key: string, shown: string, timeoutMs: number | undefined): Promise<unknown> {
    return this.#ops.ask(key, {
      digest: digestOf(key),
      timeoutMs,
      read: (raw) =>
        raw === badAnswer ? { kind: "invalid", reason: "no good" } : { kind: "value", value: raw },
      shown,
    });
  }

  async #hear(key: string, outcome: Promise<unknown>, show: (value: unknown) => string) {
    try {
      const value = await outcome;
      this.#told(key, show(value));
      return value;
    } catch (error) {
      this.#told(key, errorTold(error));
      throw error;
    }
  }

  #told(key: string, value: string): void {
    this.heard.push([key, value]);
    this.#scene.note({ kind: "told", ...this.#noted(), key, value });
  }

  async #streamed(key: string, info: StepInfo, retries: number): Promise<string> {
    const nonce = this.#starts(key, info);
    const { stream } = this.#scene;
    const count = this.length(`pieces of ${key}`, 8, 40);
    const fails = info.attempt <= Math.min(1, retries);
    let whole = "";
    for (let index = 0; index < (fails ? count / 2 : count); index += 1) {
      const text = pieceOf(nonce, index);
      whole += text;
      if (!info.signal.aborted) stream({ block: key, content: [{ type: "text", text }] });
      await pause(this.length(`${key} ${index}`, 2, 60));
    }
    this.#scene.note({ kind: "ended", ...this.#noted(), key, nonce });
    if (!fails) return whole;
    if (!info.signal.aborted) stream({ block: key, op: "reset" });
    throw new Error(nonce);
  }

  /** Notes that a body has started. */
  #starts(key: string, { idempotencyKey }: StepInfo): string {
    const noted = this.#noted();
    const { note, checkedAt } = this.#scene;
    const nonce = randomBytes(9).toString("base64url");
    note({
      kind: "started",
      ...noted,
      key,
      nonce,
      checkedAt: Math.min(noted.at, checkedAt()),
      idempotencyKey,
      hasUndo: this.#hasUndo(key),
    });
    return nonce;
  }

  async #body(key: string, info: StepInfo, shape: StepShape): Promise<string> {
    const nonce = this.#starts(key, info);
    const [low, high] = shape.ms ?? [5, 120];
    await pause(this.length(`body of ${key}`, low, high));
    this.#scene.note({ kind: "ended", ...this.#noted(), key, nonce });
    const { throws = false, retries = 0 } = shape;
    if (throws || info.attempt <= Math.min(1, retries)) throw new Error(nonce);
    return nonce;
  }

  #noted(): { at: number; task: string; run: string } {
    return { at: monotonic(), task: this.#scene.task, run: this.#run };
  }
}
