// A provider: the requests of OAuth 2.0 that it takes, made with oauth4webapi.

import {
  allowInsecureRequests,
  authorizationCodeGrantRequest,
  calculatePKCECodeChallenge,
  ClientSecretBasic,
  ClientSecretPost,
  customFetch,
  discoveryRequest,
  None,
  processAuthorizationCodeResponse,
  processDiscoveryResponse,
  processRefreshTokenResponse,
  processRevocationResponse,
  refreshTokenGrantRequest,
  revocationRequest,
  validateAuthResponse,
} from "oauth4webapi";
import type { AuthorizationServer, Client, ClientAuth, TokenEndpointResponse } from "oauth4webapi";
import type { Accounts, Provider } from "../server/accounts/account.ts";
import type { PluggedProvider } from "../server/accounts/connections.ts";
import { boundedFetch, tokenFetch } from "./bounded-fetch.ts";
import { ProviderError, providerError } from "./provider-error.ts";
import { isLoopback, isSafe } from "./oauth-options.ts";
import type { OAuthOptions } from "./oauth-options.ts";

/** What a provider gave out for one account. */
export interface GrantedTokens {
  readonly accessToken: string;
  readonly refreshToken?: string | undefined;
  /** How long the access token can be used, in milliseconds. Undefined if the provider does not say. */
  readonly lifetimeMs?: number | undefined;
}

/** One attempt of one person to sign in, as the provider has to see it. */
export interface SignIn {
  readonly state: string;
  readonly verifier: string;
  readonly redirectUri: string;
}

/** How long metadata is used before it is read again. */
const metadataMs = 3_600_000;

/** Made by `oauth()`. The secrets are private members, so that nothing prints them. */
export class OAuthProvider implements PluggedProvider {
  readonly kind = "provider";
  readonly name: string;
  readonly title: string;
  readonly "~accounts": PluggedProvider["~accounts"];
  readonly #options: OAuthOptions;
  readonly #client: Client;
  #server: { readonly metadata: Promise<AuthorizationServer>; readonly readAt: number } | undefined;

  constructor(
    options: OAuthOptions,
    plugIn: (...app: Parameters<PluggedProvider["~accounts"]>) => Accounts,
  ) {
    this.name = options.name;
    this.title = options.title ?? options.name;
    this.#options = options;
    this.#client = { client_id: options.clientId };
    this["~accounts"] = plugIn;
  }

  /** What the tokens were asked for. Tokens of another client, or for less, are of no use. */
  get asks(): { readonly client: string; readonly scope: readonly string[] } {
    return { client: this.#options.clientId, scope: this.#options.scope ?? [] };
  }

  /** The address to send a person to. */
  async signInAt({ state, verifier, redirectUri }: SignIn, signal: AbortSignal): Promise<string> {
    const server = await this.#asking(() => this.#metadata(signal));
    const { authorization_endpoint: endpoint, code_challenge_methods_supported: methods } = server;
    const lacks =
      endpoint === undefined || !isSafe(endpoint)
        ? "no https address to sign in at"
        : methods?.includes("S256") === false
          ? "no PKCE with S256"
          : undefined;
    if (endpoint === undefined || lacks !== undefined) {
      throw new ProviderError(`its metadata has ${lacks}`, undefined, false);
    }
    const url = new URL(endpoint);
    const { clientId, scope = [], parameters = {} } = this.#options;
    for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
    const own = {
      response_type: "code",
      client_id: clientId,
      redirect_uri: redirectUri,
      state,
      code_challenge: await calculatePKCECodeChallenge(verifier),
      code_challenge_method: "S256",
      ...(scope.length === 0 ? {} : { scope: scope.join(" ") }),
    };
    for (const [name, value] of Object.entries(own)) url.searchParams.set(name, value);
    return url.href;
  }

  /** Exchanges what the provider sent a person back with. Throws ProviderError. */
  async finish(
    sent: URLSearchParams,
    { state, verifier, redirectUri }: SignIn,
    signal: AbortSignal,
  ): Promise<GrantedTokens> {
    return this.#asking(async () => {
      const server = await this.#metadata(signal);
      const parameters = new URLSearchParams(sent);
      // Without metadata there is no issuer to compare with. Each provider has its own redirect address against mix-ups.
      if (this.#options.issuer === undefined) parameters.delete("iss");
      const checked = validateAuthResponse(server, this.#client, parameters, state);
      const response = await authorizationCodeGrantRequest(
        server,
        this.#client,
        this.#authentication(server),
        checked,
        redirectUri,
        verifier,
        this.#request(server, signal),
      );
      return granted(await processAuthorizationCodeResponse(server, this.#client, response));
    });
  }

  /** Renews tokens. Throws ProviderError. */
  async renew(refreshToken: string, signal: AbortSignal): Promise<GrantedTokens> {
    return this.#asking(async () => {
      const server = await this.#metadata(signal);
      const response = await refreshTokenGrantRequest(
        server,
        this.#client,
        this.#authentication(server),
        refreshToken,
        this.#request(server, signal),
      );
      return granted(await processRefreshTokenResponse(server, this.#client, response));
    });
  }

  /** Revokes tokens. False if the provider has no endpoint for that. Throws ProviderError. */
  async revoke(token: string, signal: AbortSignal): Promise<boolean> {
    return this.#asking(async () => {
      const server = await this.#metadata(signal);
      if (server.revocation_endpoint === undefined) return false;
      const response = await revocationRequest(
        server,
        this.#client,
        this.#authentication(server),
        token,
        { ...this.#request(server, signal), [customFetch]: boundedFetch },
      );
      await processRevocationResponse(response);
      return true;
    });
  }

  async #asking<T>(ask: () => Promise<T>): Promise<T> {
    try {
      return await ask();
    } catch (error) {
      throw providerError(error);
    }
  }

  #request(server: AuthorizationServer, signal: AbortSignal) {
    return {
      signal,
      [customFetch]: tokenFetch,
      // Checked by `oauth()` for addresses of the author. Those of metadata come from an address that was checked.
      [allowInsecureRequests]: isHere(server.token_endpoint),
    };
  }

  #authentication({
    token_endpoint_auth_methods_supported: methods,
  }: AuthorizationServer): ClientAuth {
    const { clientSecret, issuer } = this.#options;
    if (clientSecret === undefined) return None();
    // Every provider has to take "basic" by the specification. Those without metadata rather follow their own documents.
    const isBasic = issuer !== undefined && (methods?.includes("client_secret_basic") ?? true);
    return isBasic ? ClientSecretBasic(clientSecret) : ClientSecretPost(clientSecret);
  }

  #metadata(signal: AbortSignal): Promise<AuthorizationServer> {
    if (this.#server !== undefined && Date.now() - this.#server.readAt < metadataMs) {
      return this.#server.metadata;
    }
    const metadata = this.#readMetadata(signal);
    this.#server = { metadata, readAt: Date.now() };
    metadata.catch(() => {
      this.#server = undefined;
    });
    return metadata;
  }

  async #readMetadata(signal: AbortSignal): Promise<AuthorizationServer> {
    const { issuer, authorizationEndpoint, tokenEndpoint, revocationEndpoint } = this.#options;
    if (issuer === undefined) {
      return {
        issuer: new URL(authorizationEndpoint).origin,
        authorization_endpoint: String(authorizationEndpoint),
        token_endpoint: String(tokenEndpoint),
        ...(revocationEndpoint === undefined
          ? {}
          : { revocation_endpoint: String(revocationEndpoint) }),
      };
    }
    const url = new URL(issuer);
    const request = {
      signal,
      [customFetch]: boundedFetch,
      [allowInsecureRequests]: isHere(url.href),
    };
    let response = await discoveryRequest(url, request);
    // A server that does not speak OpenID Connect has its metadata elsewhere.
    if (response.status === 404) {
      response = await discoveryRequest(url, { ...request, algorithm: "oauth2" });
    }
    return processDiscoveryResponse(url, response);
  }
}

const isHere = (address: string | undefined): boolean =>
  address !== undefined && isLoopback(new URL(address).hostname);

function granted(response: TokenEndpointResponse): GrantedTokens {
  const { access_token: accessToken, refresh_token: refreshToken, expires_in: seconds } = response;
  return {
    accessToken,
    refreshToken,
    lifetimeMs: seconds === undefined ? undefined : seconds * 1000,
  };
}

/** Whether `oauth()` made this. */
export const isOAuthProvider = (provider: Provider): provider is OAuthProvider =>
  provider instanceof OAuthProvider;
