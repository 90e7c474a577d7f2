// Who is calling: the bearer check of the official SDK, and the user that every token is bound to.

import { OAuthError, OAuthErrorCode } from "@modelcontextprotocol/server";
import { parley } from "mcp-parley";

export interface Session {
  readonly user: string;
  readonly client: string;
  /** In seconds since 1970. */
  readonly expiresAt: number;
}

export function signedInApp(sessionOf: (token: string) => Promise<Session | undefined>) {
  // #region auth
  const app = parley({
    name: "notes",
    version: "1.0.0",
    auth: {
      verifier: {
        verifyAccessToken: async (token) => {
          const session = await sessionOf(token);
          if (session === undefined) {
            throw new OAuthError(OAuthErrorCode.InvalidToken, "Unknown token");
          }
          const { user, client, expiresAt } = session;
          return { token, clientId: client, scopes: [], expiresAt, extra: { sub: user } };
        },
      },
    },
    // The user, not the application: a call's state is good for this user alone. A request without one is refused.
    principal: ({ extra: { sub } = {} }) => (typeof sub === "string" ? sub : ""),
  });
  // #endregion
  app.tool("whoami", { description: "Say who is calling" }, (ctx) => `You are ${ctx.principal}.`);
  return app;
}
