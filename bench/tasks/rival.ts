// Another engine that does the same work: create, wait for one answer, be answered, complete.

export interface Rival {
  readonly name: string;
  /** What it needs before a turn. */
  readonly start: (concurrency: number) => Promise<void>;
  readonly stop: () => Promise<void>;
  /** One whole run. It throws if the result is wrong. */
  readonly cycle: () => Promise<void>;
  readonly close: () => Promise<void>;
}

/** If it is not available here, a text says why. */
export interface Missing {
  readonly name: string;
  readonly why: string;
}

export const isMissing = (one: Rival | Missing): one is Missing => "why" in one;

export function reason(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  return cause instanceof Error ? (cause.message.split("\n")[0] ?? "") : String(cause);
}

/** What happened to a run, whether or not it is awaited already. */
export class Gates {
  readonly #open = new Set<string>();
  readonly #waiting = new Map<string, () => void>();

  readonly open = (id: string): void => {
    const go = this.#waiting.get(id);
    if (go === undefined) this.#open.add(id);
    else go();
    this.#waiting.delete(id);
  };

  readonly passed = (id: string): Promise<void> =>
    this.#open.delete(id)
      ? Promise.resolve()
      : new Promise((resolve) => void this.#waiting.set(id, resolve));
}
