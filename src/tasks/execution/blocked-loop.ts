// A body that computes for a long time without giving way blocks the event loop: no lease is renewed and no request is
// served meanwhile. The process notices it only afterwards, when a timer fires far too late.

/** A step that ran while the event loop was blocked. */
export interface RunningStep {
  readonly task: string;
  readonly tool: string;
  readonly step: string;
}

const mostCauses = 100;
const mostNamed = 3;

/** What this process knows about the times when it did not respond. */
export class BlockedLoop {
  readonly #leaseMs: number;
  readonly #causes = new Map<string, string>();

  constructor(leaseMs: number) {
    this.#leaseMs = leaseMs;
  }

  /** Whether a timer of the worker came so late that leases were at risk. */
  isLate(lateMs: number): boolean {
    return lateMs > this.#leaseMs / 2;
  }

  /** Notes which steps ran at that time, in case one of their tasks is given up. Returns what happened, as a clause. */
  note(lateMs: number, steps: readonly RunningStep[]): string {
    const cause = `this process did not respond for at least ${seconds(lateMs)} s${during(steps)}: its event loop was blocked, or the process was paused`;
    for (const { task } of steps) {
      this.#causes.delete(task);
      this.#causes.set(task, cause);
    }
    for (const oldest of this.#causes.keys()) {
      if (this.#causes.size <= mostCauses) break;
      this.#causes.delete(oldest);
    }
    return cause;
  }

  /** Why a worker stopped renewing its lease, as far as this process knows. */
  causeOf(task: string, worker: string): string {
    const known = this.#causes.get(task);
    if (known !== undefined) return known;
    return `worker ${worker} disappeared without notice: its process ended, or a step blocked its event loop for longer than the lease of ${seconds(this.#leaseMs)} s`;
  }
}

const seconds = (ms: number) => Math.round(ms / 100) / 10;

function during(steps: readonly RunningStep[]): string {
  if (steps.length === 0) return "";
  const named = steps.slice(0, mostNamed).map(({ tool, step }) => `step "${step}" of "${tool}"`);
  const more = steps.length - named.length;
  return ` while ${named.join(" and ")}${more > 0 ? ` and ${more} more` : ""} ran`;
}
