// Runs what is due after a response that created or answered a task, for hosts that end an instance soon after it has
// responded. The host keeps the instance alive with `waitUntil`.

import { AsyncLocalStorage } from "node:async_hooks";
import { errorText } from "../../util/error-text.ts";
import type { Logger } from "../ops/logger.ts";

/**
 * What keeps an instance alive after its response: the `ctx` of Workers, the `context` of Netlify, `{ waitUntil }` on Vercel.
 *
 * @example
 * ```ts
 * import { waitUntil } from "@vercel/functions";
 *
 * export const POST = (request: Request) => app.fetch(request, { waitUntil });
 * ```
 */
export interface HostContext {
  /** Keeps the instance alive until the promise settles. */
  waitUntil(promise: Promise<unknown>): unknown;
}

/** Less than the 30 seconds that Workers allow after a response. */
export const afterResponseMs = 25_000;

/** The request that is being served. */
const current = new AsyncLocalStorage<Following>();

/** The runs after the responses of one app. */
export class AfterResponse {
  readonly #runDue: () => Promise<unknown>;
  readonly #hasWorker: () => boolean;
  readonly #logger: Logger;

  /** `runDue` runs what is due, for `afterResponseMs`. A worker in this process leaves nothing to it. */
  constructor(runDue: () => Promise<unknown>, hasWorker: () => boolean, logger: Logger) {
    this.#runDue = runDue;
    this.#hasWorker = hasWorker;
    this.#logger = logger;
  }

  /** Serves a request. What becomes due meanwhile, or while the response is streamed, is run after the response. */
  async of(host: HostContext, serve: () => Promise<Response>): Promise<Response> {
    const mine = new Following(host, this.#runDue, this.#logger);
    try {
      return await current.run(mine, serve);
    } finally {
      mine.responded();
    }
  }

  /** Something may be due now. Returns whether it is run after the response to this request. */
  due(): boolean {
    const mine = this.#hasWorker() ? undefined : current.getStore();
    mine?.due();
    return mine !== undefined;
  }
}

/** What follows one response. */
class Following {
  readonly #host: HostContext;
  readonly #runDue: () => Promise<unknown>;
  readonly #logger: Logger;
  #isDue = false;
  #isRunning = false;
  #hasResponded = false;

  constructor(host: HostContext, runDue: () => Promise<unknown>, logger: Logger) {
    this.#host = host;
    this.#runDue = runDue;
    this.#logger = logger;
  }

  due(): void {
    this.#isDue = true;
    if (this.#hasResponded) this.#follow();
  }

  responded(): void {
    this.#hasResponded = true;
    if (this.#isDue) this.#follow();
  }

  #follow(): void {
    if (this.#isRunning) return;
    this.#isRunning = true;
    const ends = this.#run();
    try {
      this.#host.waitUntil(ends);
    } catch (error) {
      // The response is there already, so it is sent all the same.
      this.#logger.error(
        `waitUntil threw, so the instance may end before its tasks have run: ${errorText(error)}`,
      );
    }
  }

  async #run(): Promise<void> {
    while (this.#isDue) {
      this.#isDue = false;
      try {
        await this.#runDue();
      } catch (error) {
        this.#logger.error(`What is due could not be run after a response: ${errorText(error)}`);
      }
    }
    this.#isRunning = false;
  }
}

/** Serves a request. `passed` is what a platform passed after the request, to the function that `way` names. */
export type Followed = (
  way: string,
  passed: readonly unknown[],
  serve: () => Promise<Response>,
) => Promise<Response>;

/** Serves a request. If the last argument of the platform has `waitUntil`, what is due runs after the response. */
export function following(
  afterResponse: AfterResponse | undefined,
  ...[way, passed, serve]: Parameters<Followed>
): Promise<Response> {
  const last = passed.at(-1);
  if (typeof last === "function") {
    throw new TypeError(
      `${way}(request, waitUntil): pass an object, ${way}(request, { waitUntil }).`,
    );
  }
  return afterResponse !== undefined && isHost(last) ? afterResponse.of(last, serve) : serve();
}

const isHost = (value: unknown): value is HostContext =>
  typeof value === "object" &&
  value !== null &&
  "waitUntil" in value &&
  typeof value.waitUntil === "function";
