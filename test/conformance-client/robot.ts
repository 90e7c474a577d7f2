// An OAuth provider for the SDK that acts as a person who signs in at once: it follows the redirect of the sign-in page
// and keeps what comes back.

import { DpopSession } from "@modelcontextprotocol/client";
import type {
  OAuthClientInformationContext,
  OAuthClientProvider,
  OAuthDiscoveryState,
  StoredOAuthClientInformation,
  StoredOAuthTokens,
} from "@modelcontextprotocol/client";

const redirectUrl = "http://localhost:3000/callback";

export class Robot implements OAuthClientProvider {
  readonly redirectUrl = redirectUrl;
  /** The client id that the suite's authorization servers expect. */
  readonly clientMetadataUrl = "https://conformance-test.local/client-metadata.json";
  readonly clientMetadata = {
    client_name: "parley-conformance",
    redirect_uris: [redirectUrl],
    grant_types: ["authorization_code", "refresh_token"],
    response_types: ["code"],
  };
  /** Kept by issuer, because credentials must go to no other server. */
  readonly #clients = new Map<string, StoredOAuthClientInformation>();
  readonly #tokens = new Map<string, StoredOAuthTokens>();
  readonly #registered: StoredOAuthClientInformation | undefined;
  #latest: StoredOAuthTokens | undefined;
  #discovery: OAuthDiscoveryState | undefined;
  readonly #dpop: Promise<DpopSession> | undefined;
  #verifier = "";
  #callback: URLSearchParams | undefined;

  /** `registered` if the server knows the client already. `hasKey` if tokens are bound to a key of the client. */
  constructor(registered: StoredOAuthClientInformation | undefined, hasKey: boolean) {
    this.#registered = registered;
    this.#dpop = hasKey ? DpopSession.create() : undefined;
  }

  async dpop(): Promise<DpopSession | undefined> {
    return this.#dpop;
  }

  /** The code from the last page, until it is exchanged for tokens. */
  get callback(): URLSearchParams {
    if (this.#callback === undefined) throw new Error("No sign-in page was opened.");
    return this.#callback;
  }

  clientInformation(ctx?: OAuthClientInformationContext): StoredOAuthClientInformation | undefined {
    return this.#registered ?? this.#clients.get(ctx?.issuer ?? "");
  }

  saveClientInformation(
    information: StoredOAuthClientInformation,
    ctx?: OAuthClientInformationContext,
  ): void {
    this.#clients.set(ctx?.issuer ?? "", information);
  }

  tokens(ctx?: OAuthClientInformationContext): StoredOAuthTokens | undefined {
    return ctx === undefined ? this.#latest : this.#tokens.get(ctx.issuer);
  }

  saveTokens(tokens: StoredOAuthTokens, ctx?: OAuthClientInformationContext): void {
    this.#tokens.set(ctx?.issuer ?? "", tokens);
    this.#latest = tokens;
    this.#callback = undefined;
  }

  saveCodeVerifier(verifier: string): void {
    this.#verifier = verifier;
  }

  codeVerifier(): string {
    return this.#verifier;
  }

  /** Kept only until the page has redirected, because the server may move later. */
  saveDiscoveryState(state: OAuthDiscoveryState): void {
    this.#discovery = state;
  }

  discoveryState(): OAuthDiscoveryState | undefined {
    return this.#callback === undefined ? undefined : this.#discovery;
  }

  async redirectToAuthorization(url: URL): Promise<void> {
    const { headers } = await fetch(url, { redirect: "manual" });
    const location = headers.get("location");
    if (location === null) throw new Error("The authorization page did not redirect.");
    this.#callback = new URL(location, redirectUrl).searchParams;
  }
}
