// Accounts at other services in SQLite.

import type { AccountKey, AccountRecord, AccountStore } from "../../account-store.ts";
import type { Sealed } from "../../task.ts";
import type { SqliteDatabase } from "./driver.ts";

/** The table of accounts. */
export class AccountTable {
  readonly #read;
  readonly #put;
  readonly #change;
  readonly #delete;

  constructor({ prepare }: SqliteDatabase) {
    const one = "where server = ? and provider = ? and principal = ?";
    this.#read = prepare(`select tokens, epoch, lease_until from accounts ${one}`);
    this.#put =
      prepare(`insert into accounts (server, provider, principal, tokens, epoch, lease_until)
      values (?, ?, ?, ?, 1, 0) on conflict do update set
        tokens = excluded.tokens, epoch = epoch + 1, lease_until = 0`);
    this.#change = prepare(`update accounts set tokens = ?, epoch = ?, lease_until = ? ${one}`);
    this.#delete = prepare(`delete from accounts ${one}`);
  }

  readonly read = (key: AccountKey, now: number): AccountRecord | undefined => {
    const [row] = this.#read.all(...columnsOf(key));
    if (row === undefined) return undefined;
    const { tokens, epoch, lease_until: leaseUntil } = row;
    return {
      tokens: String(tokens),
      epoch: Number(epoch),
      isClaimed: Number(leaseUntil) > now,
    };
  };

  readonly put = (key: AccountKey, tokens: Sealed): void =>
    this.#put.run(...columnsOf(key), tokens);

  readonly change = (key: AccountKey, tokens: Sealed, epoch: number, leaseUntil: number): void =>
    this.#change.run(tokens, epoch, leaseUntil, ...columnsOf(key));

  readonly delete = (key: AccountKey): void => this.#delete.run(...columnsOf(key));
}

const columnsOf = ({ server, provider, principal }: AccountKey) =>
  [server, provider, principal] as const;

/** How a store reads and writes its tables. */
interface Transactions {
  readonly read: <T>(operation: (accounts: AccountTable) => T) => Promise<T>;
  readonly write: <T>(operation: (accounts: AccountTable) => T) => Promise<T>;
  readonly now: () => number;
}

/** The accounts of a SQLite store. Each write reads the row and changes it in one transaction. */
export function sqliteAccounts({ read, write, now }: Transactions): AccountStore {
  const held = (accounts: AccountTable, key: AccountKey, epoch: number) => {
    const account = accounts.read(key, now());
    return account?.epoch === epoch ? account : undefined;
  };
  return {
    read: (key) => read((accounts) => accounts.read(key, now())),
    put: (key, tokens) => write((accounts) => accounts.put(key, tokens)),
    claim: (key, leaseMs) =>
      write((accounts) => {
        const account = accounts.read(key, now());
        if (account === undefined) return { kind: "none" };
        if (account.isClaimed) return { kind: "held" };
        const { tokens } = account;
        const epoch = account.epoch + 1;
        accounts.change(key, tokens, epoch, now() + Math.ceil(leaseMs));
        return { kind: "claimed", epoch, tokens };
      }),
    renew: (key, epoch, tokens) =>
      write((accounts) => {
        if (held(accounts, key, epoch) === undefined) return false;
        accounts.change(key, tokens, epoch, 0);
        return true;
      }),
    release: (key, epoch) =>
      write((accounts) => {
        const account = held(accounts, key, epoch);
        if (account !== undefined) accounts.change(key, account.tokens, epoch, 0);
        return account !== undefined;
      }),
    remove: (key, epoch) =>
      write((accounts) => {
        const account =
          epoch === undefined ? accounts.read(key, now()) : held(accounts, key, epoch);
        if (account !== undefined) accounts.delete(key);
        return account?.tokens;
      }),
  };
}
