// The audit in the memory of this process.

import type { AuditEntry, AuditPlace, AuditStore } from "../audit-store.ts";

/** The audit of a memory store. */
export class MemoryAudit implements AuditStore {
  readonly #now: () => number;
  readonly #chains = new Map<string, readonly AuditEntry[]>();

  constructor(now: () => number) {
    this.#now = now;
  }

  readonly tail: AuditStore["tail"] = async (chain, ids) => {
    const entries = this.#of(chain);
    const last = entries.at(-1);
    const known = ids.filter((id) => entries.some((one) => one.id === id));
    return { n: last?.n ?? 0, record: last?.record, known };
  };

  readonly append: AuditStore["append"] = async (chain, after, records) => {
    const entries = this.#of(chain);
    if ((entries.at(-1)?.n ?? 0) !== after) return false;
    if (records.some(({ id }) => entries.some((one) => one.id === id))) return false;
    const at = this.#now();
    const added = records.map((one, index) => ({ ...one, chain, at, n: after + 1 + index }));
    this.#chains.set(chain, [...entries, ...added]);
    return true;
  };

  readonly readChain: AuditStore["readChain"] = async (chain) => this.#of(chain);

  readonly readAfter: AuditStore["readAfter"] = async (place, limit) =>
    [...this.#chains.values()]
      .flat()
      .toSorted(inOrder)
      .filter((one) => place === undefined || inOrder(one, place) > 0)
      .slice(0, limit);

  readonly sweep: AuditStore["sweep"] = async (keepMs, limit) => {
    const cutOff = this.#now() - keepMs;
    const old = [...this.#chains]
      .filter(([, entries]) => (entries.at(-1)?.at ?? 0) <= cutOff)
      .slice(0, limit);
    for (const [chain] of old) this.#chains.delete(chain);
    return old.length;
  };

  #of(chain: string): readonly AuditEntry[] {
    return this.#chains.get(chain) ?? [];
  }
}

function inOrder(one: AuditPlace, other: AuditPlace): number {
  if (one.at !== other.at) return one.at - other.at;
  if (one.chain !== other.chain) return one.chain < other.chain ? -1 : 1;
  return one.n - other.n;
}
