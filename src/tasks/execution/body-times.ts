// How long the bodies of a run take and how often they are tried, for operators.

import type { Entry } from "../../replay/journal.ts";
import type { LogAppend } from "../task.ts";

/** The bodies that have started and have no outcome yet. */
export class BodyTimes {
  readonly #started = new Map<string, { readonly at: number; tries: number }>();

  /** A body starts, for the first time or again. */
  started(key: string): void {
    const before = this.#started.get(key);
    if (before === undefined) this.#started.set(key, { at: performance.now(), tries: 1 });
    else before.tries += 1;
  }

  /** What the body took whose outcome this is. */
  took({ kind, key }: Entry): LogAppend["took"] {
    // The body of a step with an undo starts after this is durable, and is counted then.
    if (kind === "begun") this.#started.delete(key);
    if (kind !== "step" && kind !== "threw") return undefined;
    const started = this.#started.get(key);
    if (started === undefined) return undefined;
    this.#started.delete(key);
    return { ms: Math.round(performance.now() - started.at), tries: started.tries };
  }
}
