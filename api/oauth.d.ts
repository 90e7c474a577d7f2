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
export declare function oauth(options: OAuthOptions): Provider;

/** What the provider knows of your application, and what people are asked for. */
export declare interface OAuthClient {
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

/** A provider without metadata, such as GitHub. */
export declare interface OAuthEndpoints {
    /** Where people sign in. */
    readonly authorizationEndpoint: string | URL;
    /** Where tokens are given out and renewed. */
    readonly tokenEndpoint: string | URL;
    /** Where tokens are revoked. Default: `app.disconnect` only deletes them. */
    readonly revocationEndpoint?: string | URL | undefined;
    /** There is none. */
    readonly issuer?: undefined;
}

/** A provider that publishes its metadata. */
export declare interface OAuthIssuer {
    /** The address of the provider, below which its metadata is. */
    readonly issuer: string | URL;
    /** Comes from the metadata. */
    readonly authorizationEndpoint?: undefined;
    /** Comes from the metadata. */
    readonly tokenEndpoint?: undefined;
    /** Comes from the metadata. */
    readonly revocationEndpoint?: undefined;
}

/** The options of `oauth()`. */
export declare type OAuthOptions = OAuthClient & (OAuthIssuer | OAuthEndpoints);

/** A service at which callers can have an account. Made by `oauth()` of "mcp-parley/oauth". */
export declare interface Provider {
    /** Tells a provider from other handles. */
    readonly kind: "provider";
    /** Its name in addresses, in the store and in messages. */
    readonly name: string;
}

export { }
