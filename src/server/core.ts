// What a round needs of the app that serves it, without the app's ways in.

import { defaultTaskLimits } from "../tasks/limits.ts";
import type { TaskRuntime } from "../tasks/runtime.ts";
import type { TaskStore } from "../tasks/store.ts";
import type { Keyring } from "../token/keyring.ts";
import type { Environment } from "./ops/environment.ts";
import type { Logger } from "./ops/logger.ts";
import type { Telemetry } from "./ops/telemetry.ts";
import { tenYearsMs } from "../util/timers.ts";

export interface Core {
  /** The server's name: the audience of its tokens. */
  readonly name: string;
  /** Throws ParleyError "no_keys" where there are none to be had. */
  readonly keyring: () => Keyring;
  readonly limits: Limits;
  readonly logger: Logger;
  readonly environment: Environment;
  readonly telemetry: Telemetry;
  /** Where there is a store. */
  readonly tasks: TaskRuntime | undefined;
  readonly store: TaskStore | undefined;
}

export interface Limits {
  /** Rounds a call may take. Enforced by the token itself. */
  readonly rounds: number;
  readonly tokenBytes: number;
  /** How long a client may take to come back. A question with a longer time limit makes it longer. */
  readonly tokenTtlMs: number;
  /** Smaller tokens, at the price that their length tells something of what is in them. */
  readonly deflate: boolean;
  /** How long a call goes on in its request that would be in the background, for a client that cannot follow a task. */
  readonly inlineMs: number;
  /** Live tasks of one caller. */
  readonly tasksPerPrincipal: number;
  /** How long a task may last, and lasts where `background({ ttlMs })` says nothing else. */
  readonly taskTtlMs: number;
  /** What a task may remember, sealed; also a call whose state is too large for a token. */
  readonly taskLogBytes: number;
  /** Questions a task may have open at once. */
  readonly taskQuestions: number;
}

/** Throws a RangeError that names the limit. */
export function checkedLimits(given: Partial<Limits>): Limits {
  const limits = { ...defaultLimits, ...given };
  const bounds = {
    rounds: 1e6,
    tokenBytes: 64 * 1024 * 1024,
    tokenTtlMs: tenYearsMs,
    inlineMs: tenYearsMs,
    tasksPerPrincipal: 1e9,
    taskTtlMs: tenYearsMs,
    taskLogBytes: 1024 * 1024 * 1024,
    taskQuestions: 1_000,
  };
  for (const name of boundedLimits) {
    const value = limits[name];
    if (Number.isInteger(value) && value >= 1 && value <= bounds[name]) continue;
    throw new RangeError(`limits.${name} is ${value}: a whole number from 1 to ${bounds[name]}`);
  }
  return limits;
}

const boundedLimits = [
  "rounds",
  "tokenBytes",
  "tokenTtlMs",
  "inlineMs",
  "tasksPerPrincipal",
  "taskTtlMs",
  "taskLogBytes",
  "taskQuestions",
] as const;

const defaultLimits: Limits = {
  rounds: 50,
  tokenBytes: 32 * 1024,
  // A minute over the ten in which the official client gives up on a person.
  tokenTtlMs: 11 * 60_000,
  deflate: false,
  // Ten seconds under the minute in which the official client gives up on a request.
  inlineMs: 50_000,
  tasksPerPrincipal: defaultTaskLimits.tasksPerPrincipal,
  taskTtlMs: defaultTaskLimits.taskTtlMs,
  taskLogBytes: defaultTaskLimits.logBytes,
  taskQuestions: defaultTaskLimits.questions,
};
