// The caller of a request, from verified credentials.

import type { AuthInfo } from "@modelcontextprotocol/server";
import { ParleyError } from "../../errors.ts";

/** Names the user behind verified credentials. The string must be the same in each request of that user, and not empty. */
export type PrincipalOf = (authInfo: AuthInfo) => string;

/**
 * Undefined without credentials: all such callers count as one. With credentials there must be a user. `clientId` is
 * not enough, because it names the application: a token bound to it would work for all users of that application.
 */
export function principalOf(
  authInfo: AuthInfo | undefined,
  derive: PrincipalOf | undefined,
): string | undefined {
  if (authInfo === undefined) return undefined;
  const principal = derive === undefined ? issuerAndSubject(authInfo) : derive(authInfo);
  if (typeof principal === "string" && principal !== "") return principal;
  throw new ParleyError(
    "no_principal",
    "The verified token does not name a user: authInfo.extra.sub is missing, and clientId is the application. Pass parley({ principal: (auth) => … }) to name the caller.",
  );
}

// An issuer is a URL without spaces, so two different pairs never give the same text.
function issuerAndSubject({ extra }: AuthInfo): string | undefined {
  const { iss, sub } = extra ?? {};
  if (typeof sub !== "string" || sub === "") return undefined;
  return typeof iss === "string" ? `${iss} ${sub}` : sub;
}
