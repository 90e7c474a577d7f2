// The tokens of accounts: kept sealed in the store, and renewed by one replica at a time.

import { ParleyError } from "../errors.ts";
import type { Provider, TokenSource } from "../server/accounts/account.ts";
import { sealerOf } from "../server/core.ts";
import type { Core } from "../server/core.ts";
import { fromStore, noStore } from "../server/tasks/store-needed.ts";
import type { AccountKey, AccountStore } from "../tasks/account-store.ts";
import { openJson, sealJson } from "../tasks/sealing.ts";
import { TokenError } from "../token/errors.ts";
import { isOAuthProvider } from "./provider.ts";
import type { GrantedTokens, OAuthProvider } from "./provider.ts";
import { ProviderError } from "./provider-error.ts";

/** The tokens of one account, as the store keeps them. Made of JSON. */
interface KeptTokens {
  readonly accessToken: string;
  readonly refreshToken?: string | undefined;
  /** From then on the access token is renewed before it is used. */
  readonly renewAt?: number | undefined;
  readonly expiresAt?: number | undefined;
  /** What was asked for, in which name. */
  readonly client: string;
  readonly scope: readonly string[];
}

type Principal = string | undefined;

/** A token is renewed this long before it expires, or a tenth of its life if that is less. */
const marginMs = 30_000;

/** The tokens of all accounts of an app. */
export class AccountTokens implements TokenSource {
  readonly #core: Core;
  /** The renewals under way in this process, by account. */
  readonly #renewals = new Map<string, Promise<string>>();

  constructor(core: Core) {
    this.#core = core;
  }

  /** How long a request to a provider may take. A replica that renews has to be done before its lease is over. */
  get patienceMs(): number {
    return (this.#core.store?.leaseMs ?? 10_000) * 0.8;
  }

  readonly isConnected = async (principal: Principal, provider: Provider): Promise<boolean> => {
    const kept = await this.#read(this.#keyOf(principal, provider));
    if (kept === undefined || !isOAuthProvider(provider)) return false;
    const { client, scope } = provider.asks;
    if (kept.client !== client || !scope.every((one) => kept.scope.includes(one))) return false;
    return kept.refreshToken !== undefined || !this.#isPast(kept.expiresAt);
  };

  readonly accessToken = async (principal: Principal, provider: Provider): Promise<string> => {
    const key = this.#keyOf(principal, provider);
    const kept = await this.#read(key);
    if (kept === undefined || !isOAuthProvider(provider)) {
      throw notConnected(provider, "is no longer connected");
    }
    if (!this.#isPast(kept.renewAt)) return kept.accessToken;
    const id = JSON.stringify(key);
    const renewal = this.#renewals.get(id) ?? this.#renewed(key, provider);
    this.#renewals.set(id, renewal);
    try {
      return await renewal;
    } finally {
      if (this.#renewals.get(id) === renewal) this.#renewals.delete(id);
    }
  };

  /** Keeps what a sign-in has brought. */
  async keep(principal: Principal, provider: OAuthProvider, granted: GrantedTokens): Promise<void> {
    const key = this.#keyOf(principal, provider);
    const tokens = this.#sealed(key, this.#keptTokens(provider, granted));
    await this.#inStore((accounts) => accounts.put(key, tokens));
  }

  /** Deletes the tokens of an account, and revokes them if the provider can. False if there were none. */
  async forget(principal: Principal, provider: OAuthProvider): Promise<boolean> {
    const key = this.#keyOf(principal, provider);
    const sealed = await this.#inStore((accounts) => accounts.remove(key));
    if (sealed === undefined) return false;
    await this.#revoke(provider, this.#opened(key, sealed));
    return true;
  }

  // ---------------------------------------------------------------- renewing

  /** Renews the token, or waits until another replica has. */
  async #renewed(key: AccountKey, provider: OAuthProvider): Promise<string> {
    const { environment, store } = this.#core;
    const leaseMs = store?.leaseMs ?? 10_000;
    const giveUpAt = environment.now() + 3 * leaseMs;
    for (let pauseMs = 50; ; pauseMs = Math.min(pauseMs * 2, 500)) {
      const claim = await this.#inStore((accounts) => accounts.claim(key, leaseMs));
      if (claim.kind === "none") throw notConnected(provider, "is no longer connected");
      if (claim.kind === "claimed") {
        const kept = this.#opened(key, claim.tokens);
        const token = await this.#renewedUnder(key, provider, claim.epoch, kept);
        if (token !== undefined) return token;
      }
      if (environment.now() > giveUpAt) {
        throw new Error(
          `The access token of "${provider.name}" was not renewed in time. Try again.`,
        );
      }
      await new Promise<void>((resolve) => void environment.after(pauseMs, resolve));
    }
  }

  /** Renews the token under a claim. Undefined if the claim was lost to a new sign-in. */
  async #renewedUnder(
    key: AccountKey,
    provider: OAuthProvider,
    epoch: number,
    kept: KeptTokens,
  ): Promise<string | undefined> {
    const release = () => this.#inStore((accounts) => accounts.release(key, epoch));
    // Another replica has renewed it while this one waited.
    if (!this.#isPast(kept.renewAt)) {
      await release();
      return kept.accessToken;
    }
    if (kept.refreshToken === undefined) {
      await release();
      if (!this.#isPast(kept.expiresAt)) return kept.accessToken;
      throw notConnected(
        provider,
        "can no longer be used: its access token has expired, and the provider gave none to renew it with",
      );
    }
    let granted: GrantedTokens;
    try {
      granted = await provider.renew(kept.refreshToken, AbortSignal.timeout(this.patienceMs));
    } catch (error) {
      if (!(error instanceof ProviderError)) throw error;
      return this.#notRenewed(key, provider, epoch, kept, error);
    }
    const renewed = this.#keptTokens(provider, {
      refreshToken: kept.refreshToken,
      ...defined(granted),
    });
    const tokens = this.#sealed(key, { ...renewed, scope: kept.scope });
    if (await this.#inStore((accounts) => accounts.renew(key, epoch, tokens))) {
      return granted.accessToken;
    }
    // The account was disconnected or connected again meanwhile, and nobody will use these.
    await this.#revoke(provider, renewed);
    return undefined;
  }

  async #notRenewed(
    key: AccountKey,
    provider: OAuthProvider,
    epoch: number,
    kept: KeptTokens,
    error: ProviderError,
  ): Promise<string> {
    const isOver = error.code !== undefined && finalCodes.has(error.code);
    await this.#inStore(async (accounts) => {
      if (isOver) await accounts.remove(key, epoch);
      else await accounts.release(key, epoch);
    });
    this.#core.logger.warn(
      `The access token of "${provider.name}" was not renewed: ${error.message}`,
      {
        provider: provider.name,
      },
    );
    if (!isOver && !this.#isPast(kept.expiresAt)) return kept.accessToken;
    if (error.isTemporary) {
      throw new Error(
        `The access token of "${provider.name}" could not be renewed: ${error.message}. Try again.`,
      );
    }
    throw notConnected(
      provider,
      `can no longer be used: the provider refused to renew it (${error.message})`,
    );
  }

  async #revoke(provider: OAuthProvider, { refreshToken, accessToken }: KeptTokens): Promise<void> {
    try {
      await provider.revoke(refreshToken ?? accessToken, AbortSignal.timeout(this.patienceMs));
    } catch (error) {
      const reason = error instanceof ProviderError ? error.message : "an unknown error";
      this.#core.logger.warn(
        `The tokens of "${provider.name}" were deleted, but not revoked: ${reason}`,
        {
          provider: provider.name,
        },
      );
    }
  }

  // ---------------------------------------------------------------- the store

  #keptTokens(provider: OAuthProvider, granted: GrantedTokens): KeptTokens {
    const { accessToken, refreshToken, lifetimeMs } = granted;
    const now = this.#core.environment.now();
    return {
      accessToken,
      ...(refreshToken === undefined ? {} : { refreshToken }),
      ...(lifetimeMs === undefined
        ? {}
        : {
            expiresAt: now + lifetimeMs,
            renewAt: now + lifetimeMs - Math.min(marginMs, lifetimeMs / 10),
          }),
      ...provider.asks,
    };
  }

  #isPast(time: number | undefined): boolean {
    return time !== undefined && time <= this.#core.environment.now();
  }

  #keyOf(principal: Principal, { name }: Provider): AccountKey {
    return { server: this.#core.name, provider: name, principal: principal ?? "" };
  }

  async #read(key: AccountKey): Promise<KeptTokens | undefined> {
    const record = await this.#inStore((accounts) => accounts.read(key));
    try {
      return record && this.#opened(key, record.tokens);
    } catch (error) {
      // Its key is gone, so the person has to sign in again.
      if (error instanceof TokenError) return undefined;
      throw error;
    }
  }

  #sealed(key: AccountKey, tokens: KeptTokens): string {
    return sealJson(sealerOf(this.#core), { ...tokens, scope: [...tokens.scope] }, placeOf(key));
  }

  #opened(key: AccountKey, sealed: string): KeptTokens {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- sealed by `#sealed`
    return openJson(sealerOf(this.#core), sealed, placeOf(key)) as unknown as KeptTokens;
  }

  #inStore<T>(use: (accounts: AccountStore) => Promise<T>): Promise<T> {
    return fromStore(
      (async () => {
        const { store, tasks } = this.#core;
        await tasks?.ready();
        if (store?.accounts !== undefined) return use(store.accounts);
        throw store === undefined
          ? noStore("parley({ connections })")
          : new ParleyError(
              "no_store",
              `parley({ connections }) keeps tokens in the store, and this one ("${store["~store"]}") has no accounts. Use sqliteStore or postgresStore.`,
            );
      })(),
    );
  }
}

/** The codes after which the same refresh token never works again. The second one is GitHub's. */
const finalCodes: ReadonlySet<string> = new Set(["invalid_grant", "bad_refresh_token"]);

/** A record that was moved to another person or provider does not open. */
const placeOf = ({ provider, principal }: AccountKey): string =>
  `account/${JSON.stringify([provider, principal])}`;

const defined = (granted: GrantedTokens): GrantedTokens =>
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- only what is undefined is left out
  Object.fromEntries(
    Object.entries(granted).filter(([, value]) => value !== undefined),
  ) as unknown as GrantedTokens;

const notConnected = ({ name }: Provider, what: string): ParleyError =>
  new ParleyError(
    "not_connected",
    `The account at "${name}" ${what}. Ask again with ctx.connect(${name}, { key: "${name}-again" }).`,
  );
