// A Worker whose callers have objects of their own. The header `x-user` names the caller.

import { env } from "cloudflare:workers";
import { parley } from "mcp-parley";
import { durableObjectStore, taskObject } from "mcp-parley/durable-object";
import type { ObjectState } from "mcp-parley/durable-object";
import { z } from "zod";

// #region store
const tenantOf = (principal = "nobody") => `tenant ${principal.slice(0, 1)}`;
const store = durableObjectStore(() => env.TASKS, { objectFor: tenantOf });
// #endregion store
const app = parley({
  name: "tenants",
  version: "1.0.0",
  store,
  audit: {},
  principal: ({ token }) => token,
});

/** The tickets that were sent to someone, by caller. */
const tickets: Record<string, string> = {};

app.tool("quote", { description: "Ask for a price", task: "required" }, async (ctx) => {
  const isUrgent = await ctx.confirm("urgent", "Is it urgent?");
  await ctx.background();
  const price = await ctx.waitFor("price", z.int(), {
    notify: ({ ticket }) => void (tickets[ctx.principal ?? ""] = ticket),
  });
  return `${ctx.principal}: ${price}${isUrgent ? ", urgent" : ""}`;
});

const order = { description: "Order once", once: true } as const;
app.tool("order", order, async (ctx) => {
  const count = await ctx.ask("count", "How many?", z.int());
  return ctx.step("order", () => `${ctx.principal}: ${count}, ${crypto.randomUUID()}`);
});

const countIn = (table: string) => `(select count(*) from ${table}) as ${table}`;

export class Tasks extends taskObject(app) {
  readonly #storage: ObjectState["storage"];

  constructor(state: ObjectState, given: unknown) {
    super(state, given);
    this.#storage = state.storage;
  }

  /** How many rows it has in each of these tables. Null: it has no tables. */
  counts(): Record<string, unknown> | null {
    const tables = "select 1 from sqlite_master where name = 'tasks'";
    if (this.#storage.sql.exec(tables).toArray().length === 0) return null;
    const select = `select ${["tasks", "rounds", "audit"].map(countIn).join(", ")}`;
    return this.#storage.sql.exec(select).toArray()[0] ?? null;
  }
}

async function serveTest({ pathname, searchParams }: URL): Promise<unknown> {
  switch (pathname) {
    case "/test/ticket":
      return tickets[searchParams.get("user") ?? ""];
    case "/test/deliver":
      return app.deliver(searchParams.get("ticket") ?? "", Number(searchParams.get("value")));
    case "/test/counts": {
      const id = env.TASKS.idFromName(searchParams.get("object") ?? "");
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the class above
      return (env.TASKS.get(id as never) as Tasks).counts();
    }
    default:
      throw new Error(`There is no ${pathname}.`);
  }
}

// oxlint-disable-next-line import/no-default-export -- the form of a Worker
export default {
  async fetch(request: Request) {
    const url = new URL(request.url);
    if (url.pathname.startsWith("/test/")) return Response.json((await serveTest(url)) ?? null);
    const token = request.headers.get("x-user") ?? "";
    return app.handle(request, { authInfo: { token, clientId: "tests", scopes: [] } });
  },
};
