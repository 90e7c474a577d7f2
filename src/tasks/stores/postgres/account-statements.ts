// Accounts at other services in Postgres. statements.ts says what makes each statement safe.

import type { AccountKey, AccountStore } from "../../account-store.ts";
import type { Sealed } from "../../task.ts";
import type { PostgresDatabase } from "./database.ts";
import { isStorable, storable } from "./errors.ts";
import { nowIn } from "./fragments.ts";

/** The names of these statements. */
export type AccountStatement =
  | ("readAccount" | "putAccount" | "claimAccount")
  | ("renewAccount" | "releaseAccount" | "removeAccount");

/** The SQL of these statements, for the tables in a schema whose name is quoted. */
export function accountStatements(schema: string): Readonly<Record<AccountStatement, string>> {
  const now = nowIn(schema);
  const one = "account.server = $1 and account.provider = $2 and account.principal = $3";
  return {
    // Safe: reads one row.
    readAccount: `
    select account.tokens, account.epoch, account.lease_until > ${now} as is_claimed
    from ${schema}.accounts as account where ${one}`,

    // Safe: one row. So are all of the following, each with one update or delete.
    putAccount: `
    insert into ${schema}.accounts as account (server, provider, principal, tokens, epoch, lease_until)
    values ($1, $2, $3, $4, 1, 0)
    on conflict (server, provider, principal) do update set
      tokens = excluded.tokens, epoch = account.epoch + 1, lease_until = 0`,

    claimAccount: `
    update ${schema}.accounts as account
    set epoch = account.epoch + 1, lease_until = ${now} + $4::bigint
    where ${one} and account.lease_until <= ${now}
    returning account.epoch, account.tokens`,

    renewAccount: `
    update ${schema}.accounts as account set tokens = $5, lease_until = 0
    where ${one} and account.epoch = $4 returning account.epoch`,

    releaseAccount: `
    update ${schema}.accounts as account set lease_until = 0
    where ${one} and account.epoch = $4 returning account.epoch`,

    removeAccount: `
    delete from ${schema}.accounts as account
    where ${one} and account.epoch = coalesce($4::integer, account.epoch)
    returning account.tokens`,
  };
}

type Row = { readonly tokens: Sealed; readonly epoch: number; readonly is_claimed: boolean };

const columnsOf = ({ server, provider, principal }: AccountKey) =>
  [server, provider, principal].map(storable);

const isPossible = (key: AccountKey) => Object.values(key).every(isStorable);

/** The accounts of a Postgres store. */
export function postgresAccounts({
  run,
}: Pick<PostgresDatabase<AccountStatement>, "run">): AccountStore {
  const first = async (
    name: AccountStatement,
    key: AccountKey,
    ...more: readonly unknown[]
  ): Promise<Row | undefined> =>
    isPossible(key) ? (await run<Row>(name, [...columnsOf(key), ...more]))[0] : undefined;
  const read: AccountStore["read"] = async (key) => {
    const row = await first("readAccount", key);
    return row && { tokens: row.tokens, epoch: row.epoch, isClaimed: row.is_claimed };
  };
  return {
    read,
    put: async (key, tokens) => void (await run("putAccount", [...columnsOf(key), tokens])),
    claim: async (key, leaseMs) => {
      const row = await first("claimAccount", key, Math.ceil(leaseMs));
      if (row !== undefined) return { kind: "claimed", epoch: row.epoch, tokens: row.tokens };
      return { kind: (await read(key)) === undefined ? "none" : "held" };
    },
    renew: async (key, epoch, tokens) =>
      (await first("renewAccount", key, epoch, tokens)) !== undefined,
    release: async (key, epoch) => (await first("releaseAccount", key, epoch)) !== undefined,
    remove: async (key, epoch) => (await first("removeAccount", key, epoch ?? null))?.tokens,
  };
}
