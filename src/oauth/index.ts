// "mcp-parley/oauth": accounts of callers at other services, for `parley({ connections })` and `ctx.connect`.

import type { Accounts, Provider, TokenSource } from "../server/accounts/account.ts";
import type { Core } from "../server/core.ts";
import type { Doorkeeping } from "../server/pages/visitors.ts";
import { AccountTokens } from "./account-tokens.ts";
import { connectAccount } from "./connect.ts";
import { checkOptions } from "./oauth-options.ts";
import type { OAuthOptions } from "./oauth-options.ts";
import { isOAuthProvider, OAuthProvider } from "./provider.ts";
import { startAddress } from "./sign-in-address.ts";

export type { Provider } from "../server/accounts/account.ts";
export type { OAuthClient, OAuthEndpoints, OAuthIssuer, OAuthOptions } from "./oauth-options.ts";

/**
 * A service at which callers can have an account, by OAuth 2.0 with PKCE. Register `<url>/oauth/<name>/callback` there as the
 * address to send people back to.
 *
 * @example
 * ```ts
 * import { oauth } from "mcp-parley/oauth";
 *
 * const github = oauth({
 *   name: "github",
 *   authorizationEndpoint: "https://github.com/login/oauth/authorize",
 *   tokenEndpoint: "https://github.com/login/oauth/access_token",
 *   clientId: process.env.GITHUB_ID,
 *   clientSecret: process.env.GITHUB_SECRET,
 *   scope: ["public_repo"],
 * });
 * const app = parley({ name: "stars", version: "1.0.0", url, store, auth, principal, pages, connections: [github] });
 * ```
 */
export function oauth(options: OAuthOptions): Provider {
  checkOptions(options);
  return new OAuthProvider(options, accountsFor);
}

function accountsFor(core: Core, door: Doorkeeping, providers: readonly Provider[]): Accounts {
  const known = providers.filter(isOAuthProvider);
  const kept = new AccountTokens(core);
  const startAt = (provider: OAuthProvider, ticket: string) => startAddress(core, provider, ticket);
  const isLocal = () => door.isStdio === true;
  const reaching = (tokens: TokenSource): Accounts => ({
    has: (provider) => known.some((one) => one === provider),
    connect: (operations, facts, provider, options) =>
      connectAccount(operations, facts, { tokens, startAt, isLocal }, own(provider), options),
    disconnect: async (principal, provider) => {
      const wasConnected = await kept.forget(principal, own(provider));
      if (wasConnected) {
        await core.audit({ action: "disconnected", principal, note: provider.name });
      }
      return wasConnected;
    },
    serve: (request, path) => {
      const [, name, ticket] = /^\/oauth\/([\w-]+)\/(?:callback|start\/([^/]+))$/.exec(path) ?? [];
      const provider = known.find((one) => one.name === name);
      if (provider === undefined) return undefined;
      return import("./sign-in.ts").then(({ serveSignIn }) =>
        serveSignIn({ core, door, tokens: kept, provider }, request, ticket),
      );
    },
    withTokens: reaching,
  });
  return reaching(kept);
}

function own(provider: Provider): OAuthProvider {
  if (isOAuthProvider(provider)) return provider;
  throw new TypeError("This is not what oauth() returned.");
}
