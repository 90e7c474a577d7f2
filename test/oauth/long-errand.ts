// A task that uses an account after it has waited for the test, in whichever process it runs.

import process from "node:process";
import type { App, Provider } from "mcp-parley";
import { oauth } from "mcp-parley/oauth";
import { clientId, clientSecret } from "./client.ts";

/** The provider of a test, without metadata, so that a process sends it nothing but requests for tokens. */
export const githubAt = (issuer: string): Provider =>
  oauth({
    name: "github",
    authorizationEndpoint: `${issuer}/auth`,
    tokenEndpoint: `${issuer}/token`,
    clientId,
    clientSecret,
    scope: ["repo"],
  });

/** Registers the tool. */
export function longErrand(app: App, github: Provider, api: string): void {
  app.tool("errand", { task: "required" }, async (ctx) => {
    await ctx.background();
    const account = await ctx.connect(github);
    return ctx.step(
      "use",
      async () => {
        await fetch(`${api}/gate/${process.pid}`);
        const authorization = `Bearer ${await account.accessToken()}`;
        const response = await fetch(`${api}/user`, { headers: { authorization } });
        return `${response.status} ${await response.text()}`;
      },
      { retries: 20, backoffMs: 50 },
    );
  });
}
