// A store as a process that can be lost sees it. Once the process is lost, nothing that it does reaches the store.

import type { Store } from "mcp-parley";

/** A store that can be lost, and when. */
export interface Losable {
  readonly store: Store;
  /** The process is lost at its next operation but so many. What it holds stays held until the lease runs out. */
  readonly loseAfter: (operations: number) => void;
  readonly isLost: () => boolean;
}

export function losable(real: Store): Losable {
  let left = Number.POSITIVE_INFINITY;
  const seen = <T extends object>(part: T): T =>
    new Proxy(part, {
      get: (target, name) => {
        const member: unknown = Reflect.get(target, name);
        if (typeof member === "object" && member !== null) return seen(member);
        if (typeof member !== "function") return member;
        return (...args: unknown[]): unknown => {
          left -= 1;
          return left < 0 ? new Promise<never>(() => {}) : Reflect.apply(member, target, args);
        };
      },
    });
  return {
    store: seen(real),
    loseAfter: (operations) => {
      left = operations;
    },
    isLost: () => left < 0,
  };
}
