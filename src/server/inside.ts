// What an app is made of, for entries of this package that are not the app itself, such as the console.

import type { Core } from "./core.ts";
import type { Verified } from "./http/web.ts";
import type { Registration } from "./define/registry.ts";

/** The parts of an app. */
export interface Inside {
  readonly core: Core;
  readonly registrations: Iterable<Registration>;
  /** Aborts when the app closes. */
  readonly closing: () => AbortSignal;
  /** How often the store has failed in this process. */
  readonly storeErrors: () => number;
  /** Since when the store has been failing in this process. Undefined if it works. */
  readonly storeFailingSince: () => number | undefined;
  /** Serves a request for a caller who was verified elsewhere. */
  readonly handle: (request: Request, verified: Verified) => Promise<Response>;
}

const insides = new WeakMap<object, Inside>();

/** Remembers what an app is made of. */
export function remember(app: object, inside: Inside): void {
  insides.set(app, inside);
}

/** What the app is made of. Undefined for an object that `parley()` did not make. */
export const insideOf = (app: unknown): Inside | undefined =>
  typeof app === "object" && app !== null ? insides.get(app) : undefined;
