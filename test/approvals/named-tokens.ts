// Sign-in for tests in which the bearer token of a caller is the caller's name.

import type { AuthInfo, BearerAuthOptions } from "@modelcontextprotocol/server";

export const auth: BearerAuthOptions = {
  verifier: {
    verifyAccessToken: async (token) => {
      const expiresAt = Date.now() / 1000 + 3_600;
      return { token, clientId: "app", scopes: [], expiresAt };
    },
  },
};

export const principal = ({ token }: AuthInfo): string => token;
