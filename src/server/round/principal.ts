// Who is calling, from verified credentials.

import type { AuthInfo } from "@modelcontextprotocol/server";
import { ParleyError } from "../../errors.ts";

export type PrincipalOf = (authInfo: AuthInfo) => string;

/**
 * Without credentials everybody is the same nobody. With them there has to be a user: `clientId` is the
 * application, the same for all its users, and a token bound to it would serve any of them.
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
    "The verified token names no user (authInfo.extra.sub is missing; clientId is the application). Say who is calling: parley({ principal: (auth) => … }).",
  );
}

// An issuer is a URL and has no space in it, so two pairs never share a text.
function issuerAndSubject({ extra }: AuthInfo): string | undefined {
  const { iss, sub } = extra ?? {};
  if (typeof sub !== "string" || sub === "") return undefined;
  return typeof iss === "string" ? `${iss} ${sub}` : sub;
}
