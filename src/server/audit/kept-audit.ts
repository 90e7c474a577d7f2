// The audit in the store. Several replicas may add to the record of one call at once, so each says after which record its
// own come, and tries again if another one was faster.

import type { AuditStore } from "../../tasks/audit-store.ts";
import { linkDigest, noLink, sealLink } from "../../token/chain.ts";
import type { Core } from "../core.ts";
import type { AuditRecord } from "./audit-record.ts";

/** The part of the app that keeps the audit. */
export type KeepingApp = Pick<Core, "name" | "keyring">;

/** A record on its way to the store. `~end` is not shown to anyone: it says that nothing was cut off. */
export type KeptRecord =
  | AuditRecord
  | { readonly id: string; readonly at: Date; readonly action: "~end" };

/** The end of a chain, as far as this process knows it. */
interface End {
  readonly n: number;
  readonly digest: string;
}

const mostAttempts = 50;
const mostEnds = 1_000;

/** Adds records to the chains of one store. */
export class KeptAudit {
  readonly #store: AuditStore;
  readonly #app: KeepingApp;
  /** The chains that this process has added to, the latest last. They save a look into the store. */
  readonly #ends = new Map<string, End>();

  constructor(store: AuditStore, app: KeepingApp) {
    this.#store = store;
    this.#app = app;
  }

  /** Adds those records that the chain does not have yet, and resolves to them. */
  async add(
    chain: string,
    records: readonly KeptRecord[],
    isNew: boolean,
  ): Promise<readonly KeptRecord[]> {
    let end = this.#ends.get(chain) ?? (isNew ? beginning : undefined);
    let fresh = records;
    for (let attempt = 0; attempt < mostAttempts; attempt += 1) {
      if (end === undefined) {
        const { n, record, known } = await this.#store.tail(
          chain,
          records.map(({ id }) => id),
        );
        end = { n, digest: record === undefined ? noLink : linkDigest(record) };
        fresh = records.filter(({ id }) => !known.includes(id));
      }
      if (fresh.length === 0) return fresh;
      const next = await this.#append(chain, end, fresh);
      if (next !== undefined) {
        this.#remember(chain, next);
        return fresh;
      }
      end = undefined;
    }
    throw new Error("Other processes kept adding to the audit of this call.");
  }

  async #append(chain: string, end: End, records: readonly KeptRecord[]): Promise<End | undefined> {
    const { name: app } = this.#app;
    const keyring = this.#app.keyring();
    let { n, digest } = end;
    const entries = records.map((one) => {
      n += 1;
      const { id, ...rest } = one;
      const record = sealLink(JSON.stringify({ id, ...rest }), { app, chain, n }, digest, keyring);
      digest = linkDigest(record);
      return { id, app, record };
    });
    return (await this.#store.append(chain, end.n, entries)) ? { n, digest } : undefined;
  }

  #remember(chain: string, end: End): void {
    this.#ends.delete(chain);
    this.#ends.set(chain, end);
    if (this.#ends.size <= mostEnds) return;
    const [oldest] = this.#ends.keys();
    if (oldest !== undefined) this.#ends.delete(oldest);
  }
}

const beginning: End = { n: 0, digest: noLink };
