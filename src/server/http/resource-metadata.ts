// The document that tells clients which authorization server issues tokens for this one (RFC 9728). `app.listen` serves
// it, with and without the path of the resource, because clients look for either.

import type { IncomingMessage, ServerResponse } from "node:http";
import { getOAuthProtectedResourceMetadataUrl } from "@modelcontextprotocol/server";
import type { VerifyBearerTokenOptions } from "@modelcontextprotocol/server";

/** How callers are verified: the options of the SDK's `verifyBearerToken`, and where callers get their tokens. */
export interface AuthConfig extends VerifyBearerTokenOptions {
  /**
   * The authorization servers that issue tokens for this server, by their issuer URLs. `app.listen` then serves
   * `/.well-known/oauth-protected-resource`, with `expectedResource` as the resource if you set it. Default: none.
   */
  readonly authorizationServers?: readonly (string | URL)[] | undefined;
}

/** With authorization servers and a resource, a refusal names the document, unless the author names another. */
export function namingMetadata(auth: AuthConfig): AuthConfig {
  const { authorizationServers = [], expectedResource, resourceMetadataUrl } = auth;
  if (resourceMetadataUrl !== undefined || expectedResource === undefined) return auth;
  if (authorizationServers.length === 0) return auth;
  const named = getOAuthProtectedResourceMetadataUrl(expectedResource);
  return { ...auth, resourceMetadataUrl: named };
}

/** Serves the document at its paths. Returns false for any other path. Undefined if there is no document. */
export type MetadataHandler = (
  pathname: string | undefined,
  req: IncomingMessage,
  res: ServerResponse,
) => boolean;

const wellKnown = "/.well-known/oauth-protected-resource";

/** Makes the handler. Throws a TypeError for an address that is not a URL. `url` is where the server listens. */
export function metadataHandler(
  auth: AuthConfig | undefined,
  name: string,
  path: string,
): ((url: () => string) => MetadataHandler) | undefined {
  const { authorizationServers = [], expectedResource, requiredScopes } = auth ?? {};
  if (authorizationServers.length === 0) return undefined;
  const issuers = authorizationServers.map(issuerOf);
  const resourcePath = expectedResource?.pathname ?? path;
  const paths = new Set([wellKnown, `${wellKnown}${path}`, `${wellKnown}${resourcePath}`]);
  return (url) =>
    (pathname, { method }, res) => {
      if (pathname === undefined || !paths.has(pathname)) return false;
      // The document is public, and clients in browsers read it from any page.
      const headers = { "access-control-allow-origin": "*", "content-type": "application/json" };
      if (method !== "GET" && method !== "HEAD") {
        const allow = { ...headers, allow: "GET, HEAD", "access-control-allow-headers": "*" };
        res.writeHead(method === "OPTIONS" ? 204 : 405, allow).end();
        return true;
      }
      const document = {
        resource: expectedResource?.href ?? url(),
        authorization_servers: issuers,
        ...(requiredScopes === undefined ? {} : { scopes_supported: requiredScopes }),
        bearer_methods_supported: ["header"],
        resource_name: name,
      };
      res.writeHead(200, headers).end(method === "HEAD" ? undefined : JSON.stringify(document));
      return true;
    };
}

function issuerOf(server: string | URL): string {
  if (!URL.canParse(String(server))) {
    throw new TypeError(
      `auth.authorizationServers has "${String(server)}", which is not a URL. Write the issuer of the authorization server, such as "https://login.example.com".`,
    );
  }
  // As written: an issuer is compared as text, and URL would add a slash.
  return String(server);
}
