// Accounts at other services in the memory of this process.

import type { AccountKey, AccountStore } from "../account-store.ts";
import type { Sealed } from "../task.ts";

interface MemoryAccount {
  readonly tokens: Sealed;
  readonly epoch: number;
  readonly leaseUntil: number;
}

/** The accounts of a memory store. */
export class MemoryAccounts implements AccountStore {
  readonly #now: () => number;
  readonly #accounts = new Map<string, MemoryAccount>();

  constructor(now: () => number) {
    this.#now = now;
  }

  readonly read: AccountStore["read"] = async (key) => {
    const account = this.#accounts.get(idOf(key));
    if (account === undefined) return undefined;
    const { tokens, epoch, leaseUntil } = account;
    return { tokens, epoch, isClaimed: leaseUntil > this.#now() };
  };

  readonly put: AccountStore["put"] = async (key, tokens) => {
    const epoch = (this.#accounts.get(idOf(key))?.epoch ?? 0) + 1;
    this.#accounts.set(idOf(key), { tokens, epoch, leaseUntil: 0 });
  };

  readonly claim: AccountStore["claim"] = async (key, leaseMs) => {
    const account = this.#accounts.get(idOf(key));
    if (account === undefined) return { kind: "none" };
    if (account.leaseUntil > this.#now()) return { kind: "held" };
    const { tokens } = account;
    const epoch = account.epoch + 1;
    this.#accounts.set(idOf(key), { tokens, epoch, leaseUntil: this.#now() + leaseMs });
    return { kind: "claimed", epoch, tokens };
  };

  readonly renew: AccountStore["renew"] = async (key, epoch, tokens) =>
    this.#ofHolder(key, epoch, () => ({ tokens, epoch, leaseUntil: 0 }));

  readonly release: AccountStore["release"] = async (key, epoch) =>
    this.#ofHolder(key, epoch, (account) => ({ ...account, leaseUntil: 0 }));

  readonly remove: AccountStore["remove"] = async (key, epoch) => {
    const account = this.#accounts.get(idOf(key));
    if (epoch !== undefined && account?.epoch !== epoch) return undefined;
    this.#accounts.delete(idOf(key));
    return account?.tokens;
  };

  #ofHolder(
    key: AccountKey,
    epoch: number,
    change: (account: MemoryAccount) => MemoryAccount,
  ): boolean {
    const account = this.#accounts.get(idOf(key));
    if (account?.epoch !== epoch) return false;
    this.#accounts.set(idOf(key), change(account));
    return true;
  }
}

const idOf = ({ server, provider, principal }: AccountKey): string =>
  JSON.stringify([server, provider, principal]);
