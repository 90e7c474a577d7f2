// Stands in for your directory and your sign-in. Here, the token and the cookie of a person are the person's name.

import { OAuthError, OAuthErrorCode } from "@modelcontextprotocol/server";
import type { BearerAuthOptions } from "@modelcontextprotocol/server";

const groupsOf = new Map<string | undefined, readonly string[]>([
  ["ada", ["managers"]],
  ["bo", ["managers"]],
  ["cy", ["managers"]],
  ["di", []],
]);

/** Verifies the tokens of callers. */
export const auth: BearerAuthOptions = {
  verifier: {
    verifyAccessToken: async (token) => {
      if (!groupsOf.has(token)) throw new OAuthError(OAuthErrorCode.InvalidToken, "Unknown token");
      const expiresAt = Math.floor(Date.now() / 1000) + 3_600;
      return { token, clientId: "an-agent", scopes: [], expiresAt, extra: { sub: token } };
    },
  },
};

/** Who is signed in, and the groups of this person now. */
export function signedIn(request: Request) {
  const user = /user=(\w+)/.exec(request.headers.get("cookie") ?? "")?.[1];
  const groups = groupsOf.get(user);
  return user === undefined || groups === undefined ? undefined : { principal: user, groups };
}
