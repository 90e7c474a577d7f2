// Events, from where they happen to whoever iterates. What nobody has taken waits; of progress, only the newest.

import type { Pending } from "./pending.ts";
import type { CallResult } from "./result.ts";

export type CallEvent =
  | {
      readonly type: "asked";
      readonly questions: readonly Pending[];
      /** Save this before you wait. */
      readonly ref: string;
    }
  | { readonly type: "answered"; readonly key: string }
  /** The server no longer wants to know: close the dialog. */
  | { readonly type: "withdrawn"; readonly key: string }
  | { readonly type: "task"; readonly taskId: string; readonly ref: string }
  | {
      readonly type: "progress";
      readonly done?: number | undefined;
      readonly total?: number | undefined;
      readonly message?: string | undefined;
    }
  | { readonly type: "done"; readonly result: CallResult };

export class Events<E extends { readonly type: string }> {
  readonly #queue: E[] = [];
  readonly #takers: ((end: boolean) => void)[] = [];
  #isOver = false;
  #failure: { readonly error: unknown } | undefined;
  #onDrained: (() => Promise<void>) | undefined;

  push(event: E): void {
    if (this.#isOver) return;
    const last = this.#queue.at(-1);
    // A server can send these without end.
    if (event.type === "progress" && last?.type === "progress") this.#queue.pop();
    this.#queue.push(event);
    this.#takers.shift()?.(false);
  }

  /** `onDrained`: whoever iterates has come back for more, so the last event was dealt with. */
  end(onDrained?: () => Promise<void>): void {
    this.#isOver = true;
    this.#onDrained = onDrained;
    for (const taker of this.#takers.splice(0)) taker(true);
  }

  fail(error: unknown): void {
    this.#failure = { error };
    this.end();
  }

  async next(): Promise<IteratorResult<E, undefined>> {
    for (;;) {
      const event = this.#queue.shift();
      if (event !== undefined) return { done: false, value: event };
      if (this.#failure !== undefined) throw this.#failure.error;
      if (this.#isOver) {
        await this.#onDrained?.();
        return { done: true, value: undefined };
      }
      await new Promise<boolean>((resolve) => void this.#takers.push(resolve));
    }
  }

  /** Leaving a loop early only stops listening; the call goes on. */
  iterator(): AsyncIterator<E, undefined> {
    return { next: () => this.next(), return: async () => ({ done: true, value: undefined }) };
  }
}
