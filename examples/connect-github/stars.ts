// A tool that works with the caller's own account at GitHub. GitHub's addresses are options, so that a test can play GitHub.

import { parley } from "mcp-parley";
import type { App, AuthOptions, CommonOptions, Provider, Tool } from "mcp-parley";
import { oauth } from "mcp-parley/oauth";
import { z } from "zod";

export interface GitHub {
  readonly authorizationEndpoint: string;
  readonly tokenEndpoint: string;
  readonly clientId: string;
  readonly clientSecret: string;
}

// #region provider
export const githubFrom = (application: GitHub): Provider =>
  oauth({ name: "github", title: "GitHub", scope: ["repo"], ...application });
// #endregion

/** How the site knows its users: its callers by bearer tokens, its visitors by a session. */
export type Users = Required<Pick<AuthOptions & { auth: object }, "auth" | "principal">> &
  Required<Pick<CommonOptions, "pages">>;

export function starsApp(
  github: GitHub & { readonly api: string },
  users: Users,
  options: Partial<CommonOptions>,
): { readonly app: App; readonly star: Tool<{ repository: string }>; readonly provider: Provider } {
  const provider = githubFrom(github);
  // #region app
  const app = parley({
    ...options,
    ...users, // auth, principal, and pages: { authorize }
    name: "stars",
    version: "1.0.0",
    connections: [provider],
  });
  // #endregion

  const starAt = async (repository: string, token: string): Promise<string> => {
    const response = await fetch(`${github.api}/user/starred/${repository}`, {
      method: "PUT",
      headers: { authorization: `Bearer ${token}` },
    });
    if (!response.ok) throw new Error(`GitHub answered with HTTP ${response.status}.`);
    const { login } = z.object({ login: z.string() }).parse(await response.json());
    return login;
  };

  // #region tool
  const Repository = z.object({ repository: z.string() });
  const star = app.tool(
    "star",
    { description: "Star a repository", inputSchema: Repository },
    async ({ repository }, ctx) => {
      const account = await ctx.connect(provider);
      const login = await ctx.step("star", async () =>
        starAt(repository, await account.accessToken()),
      );
      return `${login} has starred ${repository}.`;
    },
  );
  // #endregion
  return { app, star, provider };
}
