// Whether a store that failed may work again by itself. A process that starts during an outage waits for its end, but a
// mistake in the configuration does not go away.

import { backOff } from "../util/timers.ts";
import type { Clock } from "./clock.ts";
import type { TaskObserver } from "./observer.ts";

/** The wait for a store that could not be reached at the start. */
export class Outage {
  readonly #clock: Clock;
  readonly #attempt: () => Promise<void>;
  readonly #observer: Pick<TaskObserver, "storeFailed">;
  #isGivenUp = false;
  #wake: (() => void) | undefined;

  constructor(
    clock: Clock,
    attempt: () => Promise<void>,
    observer: Pick<TaskObserver, "storeFailed">,
  ) {
    this.#clock = clock;
    this.#attempt = attempt;
    this.#observer = observer;
  }

  /** Tries again, with a growing pause, until it succeeds. Resolves to false if the wait is given up. */
  async end(): Promise<boolean> {
    for (let tries = 1; ; tries += 1) {
      await this.#pause(backOff(tries, { firstMs: 200, mostMs: 10_000 }));
      if (this.#isGivenUp) return false;
      try {
        await this.#attempt();
        return true;
      } catch (error) {
        this.#observer.storeFailed(error);
      }
    }
  }

  /** Stops trying, at once. */
  giveUp(): void {
    this.#isGivenUp = true;
    this.#wake?.();
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const callOff = this.#clock.after(ms, resolve);
      this.#wake = () => {
        callOff();
        resolve();
      };
    });
  }
}

/** True for an outage: the store cannot be reached, restarts, or is busy. False for anything else. */
export function isOutage(error: unknown): boolean {
  const causes = causesOf(error);
  // A wrong password and an unknown database are mistakes, although the store counts them as unavailable.
  if (causes.some(({ code }) => mistakes.some((state) => state.test(code)))) return false;
  return causes.some(({ name, code }) => name === "StoreUnavailableError" || passing.has(code));
}

/** SQL states of Postgres. */
const mistakes = [/^28\w{3}$/, /^3D\w{3}$/];

/** The codes of Node for a network that fails, and of SQLite for a file that another process holds. */
const passing = new Set([
  "EAI_AGAIN",
  "ECONNREFUSED",
  "ECONNRESET",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "ENOTFOUND",
  "EPIPE",
  "ETIMEDOUT",
  "SQLITE_BUSY",
]);

interface Cause {
  readonly name: string;
  readonly code: string;
}

/** The error, its cause, the cause of that, and so on. */
function causesOf(error: unknown, depth = 0): Cause[] {
  if (!(error instanceof Error) || depth > mostCauses) return [];
  // For a host name with several addresses, Node reports all failures at once.
  const several: unknown[] = error instanceof AggregateError ? error.errors : [];
  const code = "code" in error && typeof error.code === "string" ? error.code : "";
  const deeper = [error.cause, ...several].flatMap((cause) => causesOf(cause, depth + 1));
  return [{ name: error.name, code }, ...deeper];
}

const mostCauses = 5;
