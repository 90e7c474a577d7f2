// What a store does for accounts at other services: it keeps the sealed tokens of each person, and lets one replica at a
// time renew them.

import type { Sealed } from "./task.ts";

/** One person's account at one provider, as one server knows it. */
export interface AccountKey {
  /** The name of the server. Servers that share a store do not share accounts. */
  readonly server: string;
  /** The name of the provider. */
  readonly provider: string;
  /** The person. Empty on a server without authorization. */
  readonly principal: string;
}

/** The accounts in a store. Each operation is atomic, and durable before it resolves. */
export interface AccountStore {
  /** Reads an account. */
  readonly read: (key: AccountKey) => Promise<AccountRecord | undefined>;
  /** Keeps the tokens of an account, in place of earlier ones. It ends any claim. */
  readonly put: (key: AccountKey, tokens: Sealed) => Promise<void>;
  /**
   * Claims the account for `leaseMs` milliseconds, to renew its tokens. Only one claim holds at a time. The tokens are those
   * that the claim found, so that nobody renews tokens that another replica has just renewed.
   */
  readonly claim: (key: AccountKey, leaseMs: number) => Promise<AccountClaim>;
  /** Keeps renewed tokens, and ends the claim. False, and nothing is written, if the claim is lost. */
  readonly renew: (key: AccountKey, epoch: number, tokens: Sealed) => Promise<boolean>;
  /** Ends the claim and changes nothing else. False if the claim is lost. */
  readonly release: (key: AccountKey, epoch: number) => Promise<boolean>;
  /**
   * Deletes the account. With an epoch, only if that claim still holds. Resolves to the tokens that it had. Undefined if
   * nothing was deleted.
   */
  readonly remove: (key: AccountKey, epoch?: number) => Promise<Sealed | undefined>;
}

/** An account as the store has it. */
export interface AccountRecord {
  /** The tokens. */
  readonly tokens: Sealed;
  /** Counts claims and sign-ins. */
  readonly epoch: number;
  /** Whether a replica holds a claim at the moment. */
  readonly isClaimed: boolean;
}

/** What `claim` did. */
export type AccountClaim =
  | {
      /** The account is claimed. */
      readonly kind: "claimed";
      /** The epoch of the claim. */
      readonly epoch: number;
      /** The tokens. */
      readonly tokens: Sealed;
    }
  | {
      /** "held": another claim holds. "none": there is no such account. */
      readonly kind: "held" | "none";
    };
