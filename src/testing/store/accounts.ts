// Accounts at other services: whose they are, and who may renew them.

import { describe, test } from "./cases.ts";
import { expect } from "./expect.ts";
import type { CaseContext } from "./cases.ts";
import type { AccountKey, AccountStore } from "../../tasks/account-store.ts";
import { leaseMs } from "./opened.ts";
import type { OpenedStore } from "./opened.ts";

const key: AccountKey = { server: "tracker", provider: "github", principal: "ann" };

async function claimed(accounts: AccountStore): Promise<number> {
  const claim = await accounts.claim(key, leaseMs);
  if (claim.kind !== "claimed") throw new Error(`The account was not claimed: ${claim.kind}.`);
  return claim.epoch;
}

const accountsOf = ({ store }: Pick<OpenedStore, "store">) => store.accounts;

/** Registers these tests, for a store that keeps accounts. */
export function describeAccounts(opened: () => OpenedStore): void {
  describe("accounts", () => {
    const withAccounts =
      (run: (accounts: AccountStore, opened: OpenedStore) => Promise<void>) =>
      async ({ skip }: CaseContext): Promise<void> => {
        const accounts = accountsOf(opened());
        if (accounts === undefined) return skip("This store keeps no accounts.");
        await run(accounts, opened());
      };

    test(
      "are kept by server, provider and person",
      withAccounts(async (accounts) => {
        expect(await accounts.read(key)).toBeUndefined();
        await accounts.put(key, "first");
        await accounts.put(key, "second");
        expect(await accounts.read(key)).toMatchObject({ tokens: "second", isClaimed: false });
        for (const other of [{ server: "x" }, { provider: "x" }, { principal: "" }]) {
          expect(await accounts.read({ ...key, ...other })).toBeUndefined();
        }
      }),
    );

    test(
      "are renewed by one replica at a time",
      withAccounts(async (accounts, { another, advance }) => {
        const elsewhere = accountsOf({ store: await another() })!;
        await accounts.put(key, "old");
        const claims = await Promise.all(
          Array.from({ length: 8 }, (_, index) =>
            (index % 2 === 0 ? accounts : elsewhere).claim(key, leaseMs),
          ),
        );
        const won = claims.flatMap((claim) => (claim.kind === "claimed" ? [claim] : []));
        expect(won).toHaveLength(1);
        expect(claims.filter(({ kind }) => kind === "held")).toHaveLength(7);
        expect(won[0]).toMatchObject({ tokens: "old" });
        expect(await elsewhere.read(key)).toMatchObject({ isClaimed: true });
        await advance(leaseMs - 1);
        expect(await elsewhere.claim(key, leaseMs)).toEqual({ kind: "held" });
        expect(await accounts.renew(key, won[0]?.epoch ?? 0, "new")).toBe(true);
        expect(await elsewhere.claim(key, leaseMs)).toMatchObject({
          kind: "claimed",
          tokens: "new",
        });
      }),
    );

    test(
      "go to another replica when the lease is over",
      withAccounts(async (accounts, { advance }) => {
        await accounts.put(key, "old");
        const first = await claimed(accounts);
        await advance(leaseMs);
        const second = await claimed(accounts);
        expect(await accounts.renew(key, first, "late")).toBe(false);
        expect(await accounts.release(key, first)).toBe(false);
        expect(await accounts.remove(key, first)).toBeUndefined();
        expect(await accounts.renew(key, second, "new")).toBe(true);
        expect(await accounts.read(key)).toMatchObject({ tokens: "new", isClaimed: false });
      }),
    );

    test(
      "can be given back unchanged",
      withAccounts(async (accounts) => {
        await accounts.put(key, "old");
        expect(await accounts.release(key, await claimed(accounts))).toBe(true);
        expect(await accounts.read(key)).toMatchObject({ tokens: "old", isClaimed: false });
      }),
    );

    test(
      "of a new sign-in end the claim on the old one",
      withAccounts(async (accounts) => {
        await accounts.put(key, "old");
        const epoch = await claimed(accounts);
        await accounts.put(key, "new");
        expect(await accounts.renew(key, epoch, "renewed")).toBe(false);
        expect(await accounts.read(key)).toMatchObject({ tokens: "new", isClaimed: false });
      }),
    );

    test(
      "are deleted with their tokens",
      withAccounts(async (accounts) => {
        expect(await accounts.remove(key)).toBeUndefined();
        await accounts.put(key, "old");
        const epoch = await claimed(accounts);
        expect(await accounts.remove(key, epoch)).toBe("old");
        expect(await accounts.renew(key, epoch, "renewed")).toBe(false);
        expect(await accounts.read(key)).toBeUndefined();
        expect(await accounts.claim(key, leaseMs)).toEqual({ kind: "none" });
        await accounts.put(key, "again");
        expect(await accounts.remove(key)).toBe("again");
      }),
    );
  });
}
