// A request that is on its way, until something ends it: an answer, a failure, silence, or whoever has asked.

import { badResponse, CallError } from "./errors.ts";
import { longestMs } from "./pace.ts";
import type { Reply, RequestOptions } from "./wire.ts";

export class Waiting {
  readonly options: RequestOptions;
  readonly reply: Promise<Reply>;
  readonly #method: string;
  readonly #onEnd: (isCalledOff: boolean) => void;
  readonly #stop = new AbortController();
  #resolve: (reply: Reply) => void = () => {};
  #reject: (reason: unknown) => void = () => {};
  #timer: NodeJS.Timeout | undefined;
  #isOver = false;
  /** An answer has begun, and is a stream or a whole. */
  #isStream: boolean | undefined;

  /** `onEnd` is told whether the server should hear that nobody waits any more. */
  constructor(method: string, options: RequestOptions, onEnd: (isCalledOff: boolean) => void) {
    this.#method = method;
    this.options = options;
    this.#onEnd = onEnd;
    this.reply = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    options.signal.addEventListener("abort", this.#onAbort);
    this.alive();
  }

  /** Aborts with its end. A server may leave its stream open, though it has said all that there is to say. */
  get over(): AbortSignal {
    return this.#stop.signal;
  }

  readonly settle = (reply: Reply): void => {
    if (this.#end(false)) this.#resolve(reply);
  };

  readonly fail = (error: unknown): void => {
    if (this.#end(false)) this.#reject(error);
  };

  #callOff(error: unknown): void {
    if (this.#end(true)) this.#reject(error);
  }

  readonly #onAbort = (): void => this.#callOff(this.options.signal.reason);

  /** There was a sign of life: the silence begins anew. */
  alive(): void {
    clearTimeout(this.#timer);
    const { timeoutMs, isPaused } = this.options;
    if (timeoutMs === undefined || this.#isOver) return;
    const onSilence = () => {
      if (isPaused?.() === true) return this.alive();
      const message = `The server has not answered ${this.#method} for ${timeoutMs} ms.`;
      this.#callOff(new CallError("timed_out", message));
    };
    this.#timer = setTimeout(onSilence, Math.min(timeoutMs, longestMs));
  }

  responded(isStream: boolean): void {
    this.#isStream = isStream;
  }

  /** All that came has been read. */
  readonly read = (): void => {
    if (this.#isStream !== false) return;
    this.fail(badResponse(`${this.#method} was answered under another id, or not at all`));
  };

  readonly brokeOff = (): void => {
    const message = `The server broke off before it answered ${this.#method}.`;
    this.fail(new CallError("server_down", message));
  };

  /** False: it was over. */
  #end(isCalledOff: boolean): boolean {
    if (this.#isOver) return false;
    this.#isOver = true;
    clearTimeout(this.#timer);
    this.options.signal.removeEventListener("abort", this.#onAbort);
    this.#onEnd(isCalledOff);
    this.#stop.abort();
    return true;
  }
}
