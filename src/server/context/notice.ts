// What `notify` of a `ctx.waitFor` gets, and how the question waits for it.

import { ParleyError } from "../../errors.ts";
import type { StepInfo } from "../../replay/operations.ts";
import { OperationPromise } from "../../replay/promises.ts";
import type { Question } from "../../replay/promises.ts";

/** What `notify` passes on. */
export interface Notice {
  /** The address of the page that asks. Throws `ParleyError` with the code "no_url" if the app has no public address. */
  readonly url: string;
  /** What `app.deliver` takes, for a page of your own. */
  readonly ticket: string;
  /** Identifies this notice. It stays the same when `notify` is called again. */
  readonly idempotencyKey: string;
  /** Aborts when the run ends. */
  readonly signal: AbortSignal;
}

/** How often `notify` is tried again if it throws, because a message that is not sent leaves the call waiting. */
export const notifyRetries = { retries: 2, backoffMs: 500 } as const;

/** A notice. `address` is undefined if the app has no public address. */
export class WaitNotice implements Notice {
  readonly ticket: string;
  readonly idempotencyKey: string;
  readonly signal: AbortSignal;
  readonly #key: string;
  readonly #address: string | undefined;

  constructor(
    key: string,
    ticket: string,
    address: string | undefined,
    { idempotencyKey, signal }: StepInfo,
  ) {
    this.#key = key;
    this.ticket = ticket;
    this.#address = address;
    this.idempotencyKey = idempotencyKey;
    this.signal = signal;
  }

  get url(): string {
    if (this.#address !== undefined) return this.#address;
    throw new ParleyError(
      "no_url",
      `notify of "${this.#key}" uses url, but the app has no public address. Pass parley({ url: "https://…" }), or build a link from ticket.`,
    );
  }

  /** Version 0.1.0 passed the ticket itself, and a template would make "[object Object]" of a notice without a word. */
  [Symbol.toPrimitive](): never {
    throw new ParleyError(
      "bad_option",
      `notify of "${this.#key}" gets an object. Write ({ url }) => … or ({ ticket }) => ….`,
    );
  }
}

/** Calls `notify`. What it returns is not used, so it is not recorded. */
export async function notified(
  notify: (notice: Notice) => unknown,
  notice: Notice,
): Promise<undefined> {
  await notify(notice);
}

/**
 * Joins a question and its `notify` step: resolves when both have, and rejects when either does. The question counts as
 * awaited only once this promise is (R10).
 */
export function joined<T>(question: Question<T>, notice: Promise<unknown>): Question<T> {
  let settle: ((both: Promise<T>) => void) | undefined;
  const both = new Promise<T>((resolve) => {
    settle = resolve;
  });
  let isAwaited = false;
  // The engine waits for the notice, so its rejection is never unhandled, even if the author awaits nothing.
  notice.catch(() => {});
  return new OperationPromise(question.key, both, () => {
    if (isAwaited) return;
    isAwaited = true;
    settle?.(Promise.all([question, notice]).then(([value]) => value));
  });
}
