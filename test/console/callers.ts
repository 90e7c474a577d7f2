// Callers with names, because nobody may approve what they have asked for themselves: the token is the name.

import type { AuthInfo, BearerAuthOptions } from "@modelcontextprotocol/server";

const auth: BearerAuthOptions = {
  verifier: {
    verifyAccessToken: async (token) => {
      const expiresAt = Date.now() / 1000 + 3600;
      return { token, clientId: "one-application", scopes: [], expiresAt, extra: { sub: token } };
    },
  },
};

/** For `parley()`. */
export const named = {
  auth,
  principal: ({ extra }: AuthInfo): string => String(extra?.["sub"]),
  url: "https://shop.example.com",
};

/** For requests. */
export const by = (name: string): { readonly headers: Readonly<Record<string, string>> } => ({
  headers: { authorization: `Bearer ${name}` },
});
