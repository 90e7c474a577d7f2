// Stands in for a directory and a sign-in: the people, which of them may approve, and who each token or cookie belongs to.

import { OAuthError, OAuthErrorCode } from "@modelcontextprotocol/server";
import type { BearerAuthOptions } from "@modelcontextprotocol/server";

export interface Person {
  readonly name: string;
  readonly mayApprove: boolean;
}

const people: readonly Person[] = [
  { name: "ada", mayApprove: false },
  { name: "bob", mayApprove: true },
  { name: "carol", mayApprove: true },
];

/** The person with this name. A real site would look up a session instead. */
export const personNamed = (name: string | undefined): Person | undefined =>
  people.find((person) => person.name === name);

/** Verifies the tokens of agents. In this example, a person's token is the person's name. */
export const auth: BearerAuthOptions = {
  verifier: {
    verifyAccessToken: async (token) => {
      const person = personNamed(token);
      if (person === undefined) throw new OAuthError(OAuthErrorCode.InvalidToken, "Unknown token");
      const expiresAt = Date.now() / 1000 + 3_600;
      return { token, clientId: "an-agent", scopes: [], expiresAt, extra: { sub: person.name } };
    },
  },
};
