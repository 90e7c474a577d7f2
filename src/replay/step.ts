// Runs the body of a step with its retries, and records its value or what remains of its error (R9).

import type { Body, StepInfo, StepSettings } from "./operations.ts";
import type { Entry, Thrown } from "./journal.ts";
import { toJson } from "../util/json.ts";
import { isThenable } from "../util/promises.ts";
import { isUnintended } from "../util/unintended.ts";

/** A body and what is needed to call it. */
export interface Attempts {
  readonly key: string;
  readonly body: Body;
  readonly options: StepSettings | undefined;
  readonly idempotencyKey: string;
  readonly signal: () => AbortSignal;
  /** Calls the body in a way that detects operations of `ctx` inside it. */
  readonly inside: (call: () => unknown) => unknown;
  /** Waits this long before the next attempt, and says why: this attempt failed with this error. */
  readonly pause: (ms: number, attempt: number, error: unknown) => Promise<void>;
  /** Called with the error of the last attempt. The entry keeps only a part of that error. */
  readonly onError: (error: unknown) => void;
}

/**
 * Calls the body as often as its options allow and returns the entry for its outcome, synchronously if the body returns a
 * value synchronously. The only error that it throws or rejects with is NotJson, because an error of the body is an outcome.
 */
export function runBody(attempts: Attempts): Entry | Promise<Entry> {
  let first: unknown;
  try {
    first = callBody(attempts, 1);
  } catch (error) {
    first = Promise.reject(error);
  }
  return isThenable(first) ? withRetries(attempts, first) : entryFor(attempts, first);
}

async function withRetries(attempts: Attempts, first: PromiseLike<unknown>): Promise<Entry> {
  const { key, options } = attempts;
  const retries = options?.retries ?? 0;
  for (let attempt = 1; ; attempt += 1) {
    let value: unknown;
    try {
      value = await (attempt === 1 ? first : callBody(attempts, attempt));
    } catch (error) {
      if (attempt > retries) {
        attempts.onError(error);
        return { kind: "threw", key, error: thrown(error) };
      }
      await attempts.pause((options?.backoffMs ?? 0) * 2 ** (attempt - 1), attempt, error);
      continue;
    }
    return entryFor(attempts, value);
  }
}

const callBody = (attempts: Attempts, attempt: number): unknown =>
  attempts.inside(() => attempts.body(new Attempt(attempts, attempt)));

const entryFor = ({ key, options }: Attempts, value: unknown): Entry =>
  options?.streams === undefined
    ? { kind: "step", key, value: toJson(value) }
    : { kind: "step", key, value: toJson(value), isStream: true };

/** What the body is called with. The signal is made when a body reads it, because few do and it is expensive to make. */
class Attempt implements StepInfo {
  readonly idempotencyKey: string;
  readonly attempt: number;
  readonly #signal: () => AbortSignal;

  constructor({ idempotencyKey, signal }: Attempts, attempt: number) {
    this.idempotencyKey = idempotencyKey;
    this.attempt = attempt;
    this.#signal = signal;
  }

  get signal(): AbortSignal {
    return this.#signal();
  }
}

/** Describes any thrown value, even one whose getters throw, so that the author's `catch` gets something useful. */
function thrown(error: unknown): Thrown {
  try {
    return error instanceof Error ? ofError(error) : { name: "Error", message: text(error) };
  } catch {
    return { name: "Error", message: unshowable };
  }
}

function ofError(error: Error): Thrown {
  const code = "code" in error ? error.code : undefined;
  const data = "data" in error ? error.data : undefined;
  return {
    name: String(error.name),
    message: String(error.message),
    ...(typeof code === "string" || (typeof code === "number" && Number.isFinite(code))
      ? { code }
      : {}),
    ...keptData(data),
    ...(isUnintended(error) ? { isUnintended: true as const } : {}),
  };
}

function keptData(data: unknown): Pick<Thrown, "data"> {
  try {
    const json = toJson(data);
    return json === undefined ? {} : { data: json };
  } catch {
    // The error itself matters more than data that JSON cannot hold.
    return {};
  }
}

const unshowable = "a value that cannot be shown was thrown";

function text(value: unknown): string {
  if (typeof value === "object" && value !== null && "message" in value)
    return String(value.message);
  return String(value);
}
