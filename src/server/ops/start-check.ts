// Reports what an app lacks when it starts, not at the first call. `app.listen` and `app.stdio` refuse to start.
// `app.fetch`, `app.node` and `app.attach` have no start, so the log says what is missing: when a host takes the
// handler, or, in production, as soon as the app exists.

import { ParleyError } from "../../errors.ts";
import { errorText } from "../../util/error-text.ts";
import type { Logger } from "./logger.ts";

/** What to look for. Each of them throws if something is missing. */
interface Checks {
  /** Looks for the keys that `app.fetch` and the others would use. */
  readonly keys: () => unknown;
  readonly store: () => unknown;
  /** Whether pages know their visitors. */
  readonly pages: () => unknown;
  /** Whether every tool can wait for those whom its gates ask. */
  readonly gates: () => unknown;
}

/** Looks once after the code that is running now, because tools may be registered after the handler is taken. */
export class StartCheck {
  readonly #logger: Logger;
  readonly #checks: Checks;
  readonly #said = new Set<string>();
  /** Whether a host has taken a handler of the app. */
  #isMounted = false;
  #isPlanned = false;

  constructor(logger: Logger, checks: Checks) {
    this.#logger = logger;
    this.#checks = checks;
    this.registered();
  }

  /** A host takes a handler. */
  mounted(): void {
    if (this.#isMounted) return;
    this.#isMounted = true;
    this.#plan();
  }

  /** The app exists, or a tool was added. In development the app may still listen, which needs neither keys nor a store. */
  registered(): void {
    if (this.#isMounted || process.env["NODE_ENV"] === "production") this.#plan();
  }

  /** Looks at one thing now, and throws if something is missing. */
  must(name: keyof Checks): void {
    this.#checks[name]();
  }

  /** Looks now. Each problem is logged once. */
  now(): void {
    for (const [name, check] of Object.entries(this.#checks)) {
      try {
        check();
      } catch (error) {
        if (this.#said.has(name)) continue;
        this.#said.add(name);
        const code = error instanceof ParleyError ? error.code : "no_keys";
        this.#logger.error(errorText(error), { code });
      }
    }
  }

  #plan(): void {
    if (this.#isPlanned) return;
    this.#isPlanned = true;
    queueMicrotask(() => {
      this.#isPlanned = false;
      this.now();
    });
  }
}
