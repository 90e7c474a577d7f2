// Stands in for your directory and your sign-in: the people, their groups, and who each token or cookie belongs to.

import { OAuthError, OAuthErrorCode } from "@modelcontextprotocol/server";
import type { BearerAuthOptions } from "@modelcontextprotocol/server";
import type { Visitor } from "mcp-parley";

// #region people
const people: readonly Visitor[] = [
  { principal: "ada", groups: ["developers"] },
  { principal: "bob", groups: ["managers"] },
  { principal: "carol", groups: ["managers"] },
  { principal: "dan", groups: ["managers"] },
];

const personNamed = (name: string | undefined) =>
  people.find(({ principal }) => principal === name);

/** Who is at the page. A real site would look up a session. In this example, the cookie has the person's name. */
export const signedIn = (request: Request): Visitor | undefined =>
  personNamed(/person=(\w+)/.exec(request.headers.get("cookie") ?? "")?.[1]);

/** Verifies the tokens of clients. In this example, a person's token is the person's name. */
export const auth: BearerAuthOptions = {
  verifier: {
    verifyAccessToken: async (token) => {
      const person = personNamed(token);
      if (person === undefined) throw new OAuthError(OAuthErrorCode.InvalidToken, "Unknown token");
      const expiresAt = Date.now() / 1000 + 3_600;
      return { token, clientId: "a-client", scopes: [], expiresAt, extra: { sub: token } };
    },
  },
};
// #endregion
