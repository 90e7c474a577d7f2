// Orders under load: clients create tasks and answer them, even while the store fails, and remember what was
// acknowledged.

import type { Json } from "../../src/util/json.ts";
import { ask } from "../../src/tasks/engine.fixture.ts";
import type { Engine, Handler } from "../../src/tasks/engine.fixture.ts";

/** Called each time the handler receives something. Every run of the task must receive the same. */
export class Ledger {
  readonly #told = new Map<string, string>();
  readonly contradictions: string[] = [];
  bodies = 0;

  tell(of: Json, what: string, told: unknown): void {
    const key = `${JSON.stringify(of)} ${what}`;
    const value = JSON.stringify(told);
    const before = this.#told.get(key);
    if (before !== undefined && before !== value) {
      this.contradictions.push(`${key}: ${before}, then ${value}`);
    }
    this.#told.set(key, value);
  }
}

export function order(ledger: Ledger): Handler {
  return async (input, ops): Promise<Json> => {
    // Every call of a body returns a new value, so the test sees if a body with a known outcome runs again.
    const body = () => (ledger.bodies += 1);
    const made = await ops.step("make", body);
    ledger.tell(input, "made", made);
    const size = await ask(ops, "size");
    ledger.tell(input, "size", size);
    const sent = await ops.step("send", body);
    ledger.tell(input, "sent", sent);
    return [made, size, sent] as Json;
  };
}

export interface Acknowledged {
  readonly id: string;
  readonly callId: string;
  /** The answer that was acknowledged. Undefined if one was accepted and its acknowledgement was lost. */
  readonly size: string | undefined;
}

/** One client. It makes its orders one after the other, and repeats each until it is acknowledged. */
export class Customer {
  readonly #engine: Engine;
  readonly #name: string;
  readonly #onProgress: () => void;
  /** Every order whose creation was acknowledged. */
  readonly acknowledged: Acknowledged[] = [];
  /** The errors that it received. */
  readonly refusals: unknown[] = [];
  constructor(engine: Engine, name: string, onProgress: () => void) {
    this.#engine = engine;
    this.#name = name;
    this.#onProgress = onProgress;
  }

  async order(number: number): Promise<void> {
    const callId = `${this.#name}-${number}`;
    const { id } = await this.#insist(() => this.#engine.create("order", callId, { callId }));
    this.#onProgress();
    await this.#engine.asked(id, "size");
    let tries = 0;
    const size = await this.#insist(async () => {
      tries += 1;
      const offer = `${callId}/${tries}`;
      const given = await this.#engine.runtime.update(id, new Map([["size", offer]]));
      // This answer was not accepted, so an earlier try was, and its acknowledgement was lost.
      return given?.accepted.includes("size") === true ? offer : undefined;
    });
    this.acknowledged.push({ id, callId, size });
    this.#onProgress();
  }

  async #insist<T>(attempt: () => Promise<T>): Promise<T> {
    for (let tries = 0; tries < 1_000; tries += 1) {
      try {
        return await attempt();
      } catch (error) {
        this.refusals.push(error);
        await new Promise((resolve) => void setTimeout(resolve, 20));
      }
    }
    throw new Error("The store does not come back.");
  }
}

/** A body that waits until its signal aborts. The second time, it ends at once. */
export class Hold {
  readonly keys: string[] = [];
  readonly started: Promise<void>;
  readonly aborted: Promise<{ readonly at: number; readonly reason: string }>;
  readonly handler: Handler;

  constructor() {
    let start = () => {};
    let abort: (aborted: { at: number; reason: string }) => void = () => {};
    this.started = new Promise((resolve) => {
      start = resolve;
    });
    this.aborted = new Promise((resolve) => {
      abort = resolve;
    });
    this.handler = (_input, ops) =>
      ops.step("hold", ({ signal, idempotencyKey }) => {
        this.keys.push(idempotencyKey);
        if (this.keys.length > 1) return "held again";
        start();
        return new Promise(() => {
          signal.addEventListener("abort", () => {
            abort({ at: performance.now(), reason: (signal.reason as Error).name });
          });
        });
      });
  }
}

/** Counts, and resolves when a number is reached. */
export class Progress {
  #steps = 0;
  readonly #waiting = new Map<number, () => void>();

  step(): void {
    this.#steps += 1;
    this.#waiting.get(this.#steps)?.();
  }

  reaches(steps: number): Promise<void> {
    return new Promise((resolve) => {
      if (this.#steps >= steps) resolve();
      else this.#waiting.set(steps, resolve);
    });
  }
}

/**
 * Whether something happens within a time, from now on. A timer decides: on a busy machine it is late as well, but it
 * still fires after the timers that were due before it.
 */
export async function isWithin(ms: number, event: Promise<unknown>): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const tooLate = new Promise<boolean>((resolve) => {
    timer = setTimeout(resolve, ms, false);
  });
  try {
    return await Promise.race([event.then(() => true), tooLate]);
  } finally {
    clearTimeout(timer);
  }
}
