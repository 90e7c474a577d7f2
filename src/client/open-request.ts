// One request that was sent and has no response yet. A response, a failure, silence or the caller ends it.

import type { LoggingLevel } from "@modelcontextprotocol/client";
import type { RpcResponse } from "../protocol/rpc.ts";
import type { PartContent } from "../protocol/streaming.ts";
import type { Members } from "../util/objects.ts";
import { timerMs } from "../util/timers.ts";
import { badResponse, CallError } from "./errors.ts";
import type { LogMessage } from "./log-messages.ts";

/** What a progress notification says. */
export interface Progress {
  readonly done?: number | undefined;
  readonly total?: number | undefined;
  readonly message?: string | undefined;
}

export interface RequestOptions {
  readonly signal: AbortSignal;
  /** How long the server may send neither a response nor progress. Default: no limit. */
  readonly timeoutMs?: number | undefined;
  /** While this returns true, the timeout does not apply. */
  readonly isPaused?: (() => boolean) | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Replaces the `_meta` that the channel sends with every request. */
  readonly meta?: Members | undefined;
  /** The members of `_meta` that only the first request of a call has. */
  readonly first?: Members | undefined;
  /** The members of `_meta` that name the span of this request. */
  readonly trace?: Members | undefined;
  readonly onProgress?: ((progress: Progress) => void) | undefined;
  /** Which log messages to ask for. Default: none. */
  readonly logLevel?: LoggingLevel | undefined;
  /** Receives the log messages of this request. If all requests share one channel, also those of others. */
  readonly onLog?: ((message: LogMessage) => void) | undefined;
  /** Asks for the parts of this request's stream, and receives them. */
  readonly onPart?: ((part: PartContent) => void) | undefined;
  /** Receives the notifications of a subscription. */
  readonly onNotification?: ((method: string, params: Members) => void) | undefined;
}

export class OpenRequest {
  readonly options: RequestOptions;
  readonly response: Promise<RpcResponse>;
  readonly #method: string;
  readonly #onEnd: (isCancelled: boolean) => void;
  readonly #stop = new AbortController();
  #resolve: (response: RpcResponse) => void = () => {};
  #reject: (reason: unknown) => void = () => {};
  #timer: NodeJS.Timeout | undefined;
  #isOver = false;
  /** Undefined until a response begins. */
  #isStream: boolean | undefined;

  /** `onEnd` receives true if the server should be notified that the request is cancelled. */
  constructor(method: string, options: RequestOptions, onEnd: (isCancelled: boolean) => void) {
    this.#method = method;
    this.options = options;
    this.#onEnd = onEnd;
    this.response = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    options.signal.addEventListener("abort", this.#onAbort);
    this.alive();
  }

  /** Aborts when the request ends, because a server may leave its stream open after the response. */
  get over(): AbortSignal {
    return this.#stop.signal;
  }

  readonly settle = (response: RpcResponse): void => {
    if (this.#end(false)) this.#resolve(response);
  };

  readonly fail = (error: unknown): void => {
    if (this.#end(false)) this.#reject(error);
  };

  #cancel(error: unknown): void {
    if (this.#end(true)) this.#reject(error);
  }

  readonly #onAbort = (): void => this.#cancel(this.options.signal.reason);

  /** Restarts the timeout, because the server has sent something. */
  alive(): void {
    clearTimeout(this.#timer);
    const { timeoutMs, isPaused } = this.options;
    if (timeoutMs === undefined || this.#isOver) return;
    const onSilence = () => {
      if (isPaused?.() === true) return this.alive();
      const message = `The server sent nothing for ${timeoutMs} ms after ${this.#method}. It may be down or overloaded.`;
      this.#cancel(new CallError("timed_out", message));
    };
    this.#timer = setTimeout(onSilence, timerMs(timeoutMs));
  }

  /** A response has begun. */
  responded(isStream: boolean): void {
    this.#isStream = isStream;
  }

  /** The whole response was read. */
  readonly read = (): void => {
    if (this.#isStream !== false) return;
    this.fail(badResponse(`it contains no response to this ${this.#method} request`));
  };

  /** The stream ended without a response. */
  readonly brokeOff = (): void => {
    const message = `The connection broke before the server responded to ${this.#method}.`;
    this.fail(new CallError("server_down", message));
  };

  /** False if the request was over already. */
  #end(isCancelled: boolean): boolean {
    if (this.#isOver) return false;
    this.#isOver = true;
    clearTimeout(this.#timer);
    this.options.signal.removeEventListener("abort", this.#onAbort);
    this.#onEnd(isCancelled);
    this.#stop.abort();
    return true;
  }
}
