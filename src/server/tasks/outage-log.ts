// The log of an outage of the store: one line when it starts, one a minute while it lasts, and one when it is over. Every
// operation fails meanwhile, in the worker and in each request, and a line for each of them would bury the rest of the log.

import { errorText } from "../../util/error-text.ts";
import type { Environment } from "../ops/environment.ts";
import type { Logger } from "../ops/logger.ts";

const reminderMs = 60_000;

/** What the log of outages needs. */
export interface OutageLogOptions {
  readonly logger: Logger;
  readonly environment: Pick<Environment, "now" | "eventually">;
  /** Resolves if the store can be used. */
  readonly probe: () => Promise<unknown>;
  /**
   * How long no operation may have failed before the outage counts as over, in milliseconds. In an outage some operations
   * may still succeed, such as reads, and its end must not be logged each time.
   */
  readonly quietMs: number;
}

interface Outage {
  readonly since: number;
  failures: number;
  failedAt: number;
  loggedAt: number;
  cancelLook: () => void;
}

/** Logs the outages of one store in this process. */
export class OutageLog {
  readonly #options: OutageLogOptions;
  #outage: Outage | undefined;

  constructor(options: OutageLogOptions) {
    this.#options = options;
  }

  /** Whether an outage goes on. */
  get isDown(): boolean {
    return this.#outage !== undefined;
  }

  /** When the outage that goes on began. */
  get since(): number | undefined {
    return this.#outage?.since;
  }

  /** An operation of the store failed. */
  failed(error: unknown, fields?: Record<string, unknown>): void {
    const { logger, environment, quietMs } = this.#options;
    const now = environment.now();
    const outage = this.#outage;
    if (outage === undefined) {
      logger.error(`The task store failed: ${errorText(error)}`, fields);
      const started = { since: now, failures: 1, failedAt: now, loggedAt: now };
      this.#outage = { ...started, cancelLook: this.#lookIn(quietMs) };
      return;
    }
    outage.failures += 1;
    outage.failedAt = now;
    if (now - outage.loggedAt < reminderMs) {
      logger.debug(`The task store failed: ${errorText(error)}`, fields);
      return;
    }
    outage.loggedAt = now;
    logger.error(
      `The task store has been failing for ${lengthOf(now - outage.since)}. The last error: ${errorText(error)}`,
      { failures: outage.failures },
    );
  }

  /** Forgets an outage that goes on, because the store is not used any more. */
  close(): void {
    this.#outage?.cancelLook();
    this.#outage = undefined;
  }

  #lookIn(ms: number): () => void {
    return this.#options.environment.eventually(ms, () => void this.#look());
  }

  /** Ends the outage if nothing has failed for a while and the store can be used. Otherwise it looks again later. */
  async #look(): Promise<void> {
    const { logger, environment, probe, quietMs } = this.#options;
    const outage = this.#outage;
    if (outage === undefined) return;
    const { failedAt } = outage;
    const quietFor = environment.now() - failedAt;
    if (quietFor >= quietMs && (await isFine(probe()))) {
      // Meanwhile an operation may have failed, or the app may have been closed.
      if (this.#outage === outage && outage.failedAt === failedAt) {
        this.#outage = undefined;
        logger.info(
          `The task store works again. It was failing for ${lengthOf(failedAt - outage.since)}.`,
          { failures: outage.failures },
        );
      }
    }
    if (this.#outage !== outage) return;
    const leftMs = quietMs - (environment.now() - outage.failedAt);
    outage.cancelLook = this.#lookIn(leftMs > 0 ? leftMs : quietMs);
  }
}

const isFine = (attempt: Promise<unknown>): Promise<boolean> =>
  attempt.then(
    () => true,
    () => false,
  );

function lengthOf(ms: number): string {
  const seconds = Math.max(1, Math.ceil(ms / 1_000));
  if (seconds < 120) return seconds === 1 ? "1 second" : `${seconds} seconds`;
  const minutes = Math.floor(seconds / 60);
  return minutes < 120 ? `${minutes} minutes` : `${Math.floor(minutes / 60)} hours`;
}
