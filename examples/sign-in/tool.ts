// A page in the middle of a call: the person signs in to another service, and the tool goes on afterwards.

import { parley } from "mcp-parley";
import type { App } from "mcp-parley";

export interface Accounts {
  /** Whether this call's person has finished signing in. */
  readonly isSignedIn: (callId: string) => Promise<boolean>;
  readonly repositories: (callId: string) => Promise<string[]>;
}

export function signInTool(
  accounts: Accounts,
  app: App = parley({ name: "code", version: "1.0.0" }),
) {
  const listRepositories = app.tool(
    "list_repositories",
    { description: "List your repositories" },
    async (ctx) => {
      // #region page
      await ctx.openUrl(
        "sign-in",
        "Sign in to the code host",
        // The ticket tells your page which call it belongs to: app.readTicket(ticket).
        (ticket) => `https://code.example/sign-in?state=${encodeURIComponent(ticket)}`,
        // Accepting means "I will open it". The tool goes on when this returns true.
        { until: () => accounts.isSignedIn(ctx.callId) },
      );
      // #endregion
      const names = await ctx.step("list", () => accounts.repositories(ctx.callId));
      return names.join("\n");
    },
  );
  return { app, listRepositories };
}
