// Accounts of callers at other services, as authors see them, and the socket that `mcp-parley/oauth` plugs into. An app
// knows connections by these types alone, so that nothing of them is loaded unless `oauth()` is called.

import type { Ability, ExtensionId } from "../../protocol/capabilities.ts";
import type { Operations } from "../../replay/operations.ts";
import type { Question } from "../../replay/promises.ts";
import type { Privacy, Way } from "../round/ways.ts";

/** A service at which callers can have an account. Made by `oauth()` of "mcp-parley/oauth". */
export interface Provider {
  /** Tells a provider from other handles. */
  readonly kind: "provider";
  /** Its name in addresses, in the store and in messages. */
  readonly name: string;
}

/** The caller's account at a provider. */
export interface Account {
  /** The name of the provider. */
  readonly provider: string;
  /**
   * Returns the access token, which is renewed if necessary. Call it inside a step, and do not return the token from there:
   * what a step returns is recorded. Rejects with `ParleyError` ("not_connected") if the account can no longer be used.
   */
  readonly accessToken: () => Promise<string>;
}

/** The options of `ctx.connect`. */
export interface ConnectOptions {
  /** What the person is told. Default: a sentence with the provider's title. */
  readonly message?: string | undefined;
  /**
   * The key of the question. Default: the provider's name. Pass another one to ask again in the same call, for an account
   * that can no longer be used.
   */
  readonly key?: string | undefined;
  /** How long to wait for the person, in milliseconds. Default: without limit. */
  readonly timeoutMs?: number | undefined;
}

/** Where access tokens come from. */
export interface TokenSource {
  /** Whether this person has a token that can be used, or renewed. */
  readonly isConnected: (principal: string | undefined, provider: Provider) => Promise<boolean>;
  /** A token that can be used now. */
  readonly accessToken: (principal: string | undefined, provider: Provider) => Promise<string>;
  /** Whether a script says that its person has signed in, as in a test. Default: no, only the callback counts. */
  readonly isPlayed?: boolean | undefined;
}

/** What the address of a sign-in begins with in a played call, where there is no page. */
export const playedSignIn = "https://play.invalid/oauth/";

/** What `ctx.connect` has to know of its call. Written out, because what carries a call imports this file. */
export interface ConnectFacts {
  /** The name of the tool, prompt or resource. */
  readonly name: string;
  readonly principal: string | undefined;
  readonly accounts: Accounts | undefined;
  /** The request of this round. Undefined in a task. */
  readonly request: { readonly headers?: unknown } | undefined;
  readonly can: (ability: Ability | ExtensionId) => boolean;
  readonly way: (privacy: Privacy) => Way | undefined;
  readonly hasPages: () => boolean;
  /** Notes a token that this run must not record. */
  readonly handOut: (token: string, provider: string) => void;
}

/** What the plug-in makes of the connections of an app. */
export interface Accounts {
  /** Whether this is one of the connections. */
  readonly has: (provider: Provider) => boolean;
  /** `ctx.connect`. */
  readonly connect: (
    operations: Operations,
    facts: ConnectFacts,
    provider: Provider,
    options: ConnectOptions | undefined,
  ) => Question<Account>;
  /** `app.disconnect`. */
  readonly disconnect: (principal: string, provider: Provider) => Promise<boolean>;
  /** Serves an address below `/oauth/`, or undefined if it is not one of ours. */
  readonly serve: (request: Request, path: string) => Promise<Response> | undefined;
  /** The same connections with tokens from elsewhere, for the test kit. */
  readonly withTokens: (tokens: TokenSource) => Accounts;
}

/** Whether `oauth()` made this. */
export const isProvider = (value: unknown): value is Provider =>
  typeof value === "object" && value !== null && "~accounts" in value;
