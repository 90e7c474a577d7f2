// An app whose payments two managers approve, for tests that run it in several processes.

import { parley } from "mcp-parley";
import type { App, Store } from "mcp-parley";
import { z } from "zod";
import { keys, quiet } from "../interop/errands.ts";
import { auth, principal } from "./named-tokens.ts";

export const site = "https://desk.example.com";

/** The bearer token of a caller, and the header of a visitor, is the person's name. Every visitor is a manager. */
export function payDesk(store: Store, tell: (order: number, ticket: string) => void): App {
  const app = parley({
    name: "desk",
    version: "1.0.0",
    keys,
    logger: quiet,
    store,
    auth,
    principal,
    url: site,
    pages: {
      authorize: (request) => ({
        principal: request.headers.get("x-user") ?? "",
        groups: ["managers"],
      }),
    },
  });
  app.tool(
    "pay",
    { inputSchema: z.object({ order: z.int() }), task: "required" },
    async ({ order }, ctx) => {
      const { decisions } = await ctx.approve("pay", `Pay order ${order}?`, {
        by: "managers",
        of: 2,
        notify: ({ ticket }) => tell(order, ticket),
      });
      return `paid, approved by ${decisions.map(({ who }) => who).join(" and ")}`;
    },
  );
  return app;
}

/** The store that this text names. */
export async function storeAt(target: string, leaseMs: number): Promise<Store> {
  if (target.startsWith("postgres")) {
    const { postgresStore } = await import("mcp-parley/postgres");
    return postgresStore(target, { leaseMs });
  }
  const { sqliteStore } = await import("mcp-parley/sqlite");
  return sqliteStore(target, { leaseMs });
}
