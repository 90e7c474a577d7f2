// One replica of a server: tasks in Postgres, a console for its operators, and a log for machines.

// #region server
import process from "node:process";
import { parley } from "mcp-parley";
import { operatorConsole } from "mcp-parley/console";
import { postgresStore } from "mcp-parley/postgres";
import { z } from "zod";
import { auth, signedIn } from "./people.ts"; // your directory and your sign-in

const { DATABASE_URL, PUBLIC_URL, PORT = "3000" } = process.env;
if (!DATABASE_URL)
  throw new Error("Set DATABASE_URL to the address of your Postgres: postgres://…");

const app = parley({
  name: "deployments", // the same on every replica, as are PARLEY_KEYS and the database
  version: "1.0.0", // raise it with each deployment
  store: postgresStore(DATABASE_URL),
  auth,
  principal: ({ extra }) => String(extra?.["sub"]),
  url: PUBLIC_URL, // where clients and people reach the replicas: https://deploy.example.com
  pages: { authorize: signedIn },
  logger: "json",
});

app.tool(
  "deploy",
  {
    description: "Deploy a version after two managers have approved it",
    inputSchema: z.object({ version: z.string() }),
    task: "required",
  },
  async ({ version }, ctx) => {
    await ctx.background();
    const image = await ctx.step("push", () => `registry.example.com/shop:${version}`, {
      retries: 8,
      backoffMs: 5_000,
    });
    await ctx.approve("approval", `Release ${version}?`, { by: "managers", of: 2 });
    await ctx.step("release", ({ idempotencyKey }) => console.log("release", idempotencyKey));
    return `${image} is released.`;
  },
);

const operators = operatorConsole(app, {
  authorize: (request) => {
    const person = signedIn(request);
    if (person === undefined) return undefined;
    const { principal, groups = [] } = person;
    const isDeveloper = groups.includes("developers");
    return { who: principal, principal, groups, may: "act", values: isDeveloper };
  },
});

// In production it does not start without PARLEY_KEYS, and says how to make them.
const { url } = await app.listen(Number(PORT), { console: operators });
// #endregion
console.log("url", url);
