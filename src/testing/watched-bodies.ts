// Notes which bodies run and what they return, and kills the process at one of them.

import type { StepInfo } from "../replay/operations.ts";
import type { StepObserver } from "../server/context/observed-body.ts";

/** One execution of a step's body. */
export interface BodyExecution {
  readonly step: string;
  readonly idempotencyKey: string;
  /** Whether the body read its idempotency key, which a body does to make a second execution harmless. */
  usedKey: boolean;
}

/** When to kill the process that serves a round. */
export interface Crash {
  /** Which execution of a body in this round, counted from 1. */
  readonly body: number;
  readonly when: "before" | "after";
}

/** The bodies that one round, or one run of a task, executes. */
export class WatchedBodies {
  readonly #executions: BodyExecution[] = [];
  readonly #reached: string[] = [];
  readonly #outcomes = new Map<string, unknown>();

  /** `stop` kills the process. */
  observer(crash: Crash | undefined, stop: () => void): StepObserver {
    // A killed process records nothing and sends no response.
    const die = (): Promise<never> => {
      stop();
      return new Promise(() => {});
    };
    return {
      onStep: (key) => void this.#reached.push(key),
      runBody: (step, info, body) => {
        const count = this.#executions.length + 1;
        if (crash?.when === "before" && crash.body === count) return die();
        const execution = withWatchedKey(step, info);
        // A retry is part of the same execution.
        if (info.attempt === 1) this.#executions.push(execution.record);
        if (crash?.body !== count) return this.#noted(step, body(execution.info));
        return new Promise((resolve) => resolve(body(execution.info))).then(die, die);
      },
    };
  }

  #noted(step: string, returned: unknown): unknown {
    const note = (value: unknown) => void this.#outcomes.set(step, value);
    if (returned instanceof Promise) void returned.then(note, () => {});
    else note(returned);
    return returned;
  }

  /** What ran, and what was replayed. */
  summary(): {
    readonly executions: readonly BodyExecution[];
    readonly replayed: readonly string[];
    readonly outcomes: ReadonlyMap<string, unknown>;
  } {
    const ran = new Set(this.#executions.map(({ step }) => step));
    return {
      executions: this.#executions,
      replayed: this.#reached.filter((key) => !ran.has(key)),
      outcomes: this.#outcomes,
    };
  }
}

function withWatchedKey(step: string, info: StepInfo): { record: BodyExecution; info: StepInfo } {
  const { idempotencyKey, attempt } = info;
  const record: BodyExecution = { step, idempotencyKey, usedKey: false };
  return {
    record,
    info: {
      attempt,
      get idempotencyKey() {
        record.usedKey = true;
        return idempotencyKey;
      },
      get signal() {
        return info.signal;
      },
    },
  };
}
