// A console for the people who operate an app: who may look, who may act, and for whom.

// #region console
import type { App } from "mcp-parley";
import { operatorConsole } from "mcp-parley/console";

/** Your own session: whoever is signed in here. */
export type SignedIn = (
  request: Request,
) => { readonly user: string; readonly teams: readonly string[] } | undefined;

export async function serveConsole(app: App, signedIn: SignedIn, port: number): Promise<string> {
  const operators = operatorConsole(app, {
    // Undefined refuses, and a Response sends the visitor elsewhere.
    authorize: (request) => {
      const session = signedIn(request);
      if (session === undefined) return Response.redirect("https://ops.example.com/sign-in");
      const { user, teams } = session;
      const isOnCall = teams.includes("on-call");
      return {
        who: user,
        principal: user, // what parley({ principal }) gives for this person's calls
        groups: teams,
        may: isOnCall ? "act" : "look",
        values: isOnCall,
      };
    },
  });
  const { url } = await app.listen(port, { console: operators });
  return new URL("/console/", url).href;
}
// #endregion
