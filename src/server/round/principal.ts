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
  if (typeof principal === "string" && principal !== "") return storable(principal);
  throw new ParleyError(
    "no_principal",
    "The verified token does not name a user: authInfo.extra.sub is missing, and clientId is the application. Pass parley({ principal: (auth) => … }) to name the caller.",
  );
}

/**
 * Different pairs never give the same text, and the text of a pair stays what the first release made of it, because tokens
 * and tasks are bound to it. An issuer has no space, so the first space ends it; a subject alone must have none. Anything
 * else, and anything that begins like JSON, is written as JSON.
 */
function issuerAndSubject({ extra }: AuthInfo): string | undefined {
  const { iss, sub } = extra ?? {};
  if (typeof sub !== "string" || sub === "") return undefined;
  if (typeof iss !== "string") {
    return sub.includes(" ") || sub.startsWith("[") ? JSON.stringify([storable(sub)]) : sub;
  }
  return iss.includes(" ") || iss.startsWith("[")
    ? JSON.stringify([storable(iss), storable(sub)])
    : `${iss} ${sub}`;
}

/** Databases refuse NUL, and UTF-8 makes all lone surrogates the same character, so that two users would be one. */
function storable(text: string): string {
  if (!text.includes("\0") && !/\p{Surrogate}/u.test(text)) return text;
  throw new ParleyError(
    "no_principal",
    "The verified token names a user with a character that cannot be stored: NUL, or half of a surrogate pair. The request was refused. If such users are real, pass parley({ principal: (auth) => … }) and encode the name.",
  );
}
