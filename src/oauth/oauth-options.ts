// The options of `oauth()`, and what is wrong with them.

import { ParleyError } from "../errors.ts";

/** The options of `oauth()`. */
export type OAuthOptions = OAuthClient & (OAuthIssuer | OAuthEndpoints);

/** What the provider knows of your application, and what people are asked for. */
export interface OAuthClient {
  /** Appears in addresses (`/oauth/<name>/…`), in the store and in messages. Use letters, digits, `-` and `_`. */
  readonly name: string;
  /** The id that the provider gave your application. */
  readonly clientId: string;
  /** The secret that the provider gave your application. Default: none, for a public client. */
  readonly clientSecret?: string | undefined;
  /** What to ask the person for, in the provider's words. Default: what the provider grants without it. */
  readonly scope?: readonly string[] | undefined;
  /** Sent along to the authorization endpoint, such as `prompt` or `audience`. Default: none. */
  readonly parameters?: Readonly<Record<string, string>> | undefined;
  /** What people are shown. Default: `name`. */
  readonly title?: string | undefined;
}

/** A provider that publishes its metadata. */
export interface OAuthIssuer {
  /** The address of the provider, below which its metadata is. */
  readonly issuer: string | URL;
  /** Comes from the metadata. */
  readonly authorizationEndpoint?: undefined;
  /** Comes from the metadata. */
  readonly tokenEndpoint?: undefined;
  /** Comes from the metadata. */
  readonly revocationEndpoint?: undefined;
}

/** A provider without metadata, such as GitHub. */
export interface OAuthEndpoints {
  /** Where people sign in. */
  readonly authorizationEndpoint: string | URL;
  /** Where tokens are given out and renewed. */
  readonly tokenEndpoint: string | URL;
  /** Where tokens are revoked. Default: `app.disconnect` only deletes them. */
  readonly revocationEndpoint?: string | URL | undefined;
  /** There is none. */
  readonly issuer?: undefined;
}

/** Throws ParleyError "bad_option" for options that could never work. */
export function checkOptions(options: OAuthOptions): void {
  const { name, clientId } = options;
  if (typeof name !== "string" || !/^[\w-]{1,64}$/.test(name)) {
    throw new ParleyError(
      "bad_option",
      `oauth({ name: ${JSON.stringify(name)} }): the name is part of an address. Use letters, digits, "-" and "_".`,
    );
  }
  if (typeof clientId !== "string" || clientId === "") {
    throw new ParleyError(
      "bad_option",
      `oauth({ name: "${name}" }) needs the clientId that the provider gave your application.`,
    );
  }
  const { issuer, authorizationEndpoint, tokenEndpoint, revocationEndpoint } = options;
  const required = issuer === undefined ? { authorizationEndpoint, tokenEndpoint } : { issuer };
  for (const [option, address] of Object.entries({ ...required, revocationEndpoint })) {
    if (address === undefined && option === "revocationEndpoint") continue;
    if (isSafe(String(address))) continue;
    throw new ParleyError(
      "bad_option",
      `oauth({ name: "${name}" }): ${option} has to be an https address. Tokens would otherwise travel in the clear.`,
    );
  }
}

/** Whether a request to this address cannot be read on its way. */
export const isSafe = (address: string): boolean => {
  if (!URL.canParse(address)) return false;
  const { protocol, hostname } = new URL(address);
  return protocol === "https:" || (protocol === "http:" && isLoopback(hostname));
};

/** Whether this is the author's own machine, where tests and trials need no certificate. */
export const isLoopback = (hostname: string): boolean =>
  /^(localhost|127(\.\d+){3}|\[::1\])$/.test(hostname);
