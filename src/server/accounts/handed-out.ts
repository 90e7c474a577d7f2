// The access tokens that a run has handed out, so that none of them gets into the journal or the log.

import { ParleyError } from "../../errors.ts";
import type { Entry } from "../../replay/journal.ts";
import { errorText } from "../../util/error-text.ts";

/** The tokens of one run, each with the name of its provider. */
export class HandedOut {
  readonly #tokens = new Map<string, string>();

  add(token: string, provider: string): void {
    this.#tokens.set(token, provider);
  }

  /**
   * The outcome of a step, without tokens. Throws ParleyError "bad_result" if the step returned one. An error that it threw
   * may have come from elsewhere, such as an address in its message, so the token is taken out of it.
   */
  vetted(entry: Entry): Entry {
    const text = JSON.stringify(entry);
    const found = [...this.#tokens].find(([token]) => text.includes(inJson(token)));
    if (found === undefined) return entry;
    if (entry.kind === "threw") {
      const shown = this.#without(JSON.stringify(entry.error), inJson);
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- only texts in it have changed
      return { ...entry, error: JSON.parse(shown) as typeof entry.error };
    }
    throw new ParleyError(
      "bad_result",
      `Step "${entry.key}" returned the access token of "${found[1]}". What a step returns is recorded: use the token inside the step.`,
    );
  }

  /** An error for the log, without tokens. */
  loggable(error: unknown): unknown {
    const text = errorText(error);
    const stack = error instanceof Error ? (error.stack ?? "") : "";
    const isClean = [...this.#tokens.keys()].every((token) => !`${text}${stack}`.includes(token));
    if (isClean) return error;
    const shown = new Error(this.#without(text));
    shown.stack = this.#without(stack);
    return shown;
  }

  #without(text: string, form = (token: string) => token): string {
    let left = text;
    for (const token of this.#tokens.keys()) {
      left = left.replaceAll(form(token), "[access token]");
    }
    return left;
  }
}

const inJson = (token: string): string => JSON.stringify(token).slice(1, -1);
