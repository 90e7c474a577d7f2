// An app whose questions are answered by people outside the client: through a model, on pages, as a group, in a route of the
// Worker. The token of a request names its caller or visitor.

import { env } from "cloudflare:workers";
import { parley } from "mcp-parley";
import type { App, Notice, Store } from "mcp-parley";
import { taskObject } from "mcp-parley/durable-object";
import type { ObjectState } from "mcp-parley/durable-object";
import { z } from "zod";

/** Where its pages are, as people see them. */
const publicUrl = "https://cakes.example.com";

const managers = new Set(["bo", "cy"]);
const groupsOf = (principal: string) => (managers.has(principal) ? ["managers"] : []);

const tokenIn = (request: Request): string | undefined =>
  request.headers.get("authorization")?.replace("Bearer ", "");

const Order = z.object({ order: z.string() });
const Price = z.object({ price: z.int().min(1) });

const Decision = z.object({
  ticket: z.string(),
  approve: z.boolean(),
  note: z.string().optional(),
});

/** What was sent to people, by order and key. */
const notices: Record<string, Pick<Notice, "ticket" | "url">> = {};

const sendAs =
  (name: string) =>
  ({ ticket, url }: Notice): void =>
    void (notices[name] = { ticket, url });

function cakes(store: Store): App {
  const app = parley({
    name: "cakes",
    version: "1.0.0",
    store,
    url: publicUrl,
    relay: true,
    audit: {},
    // A client without tasks is not kept waiting for people.
    limits: { inlineMs: 100 },
    auth: {
      verifier: {
        verifyAccessToken: async (token) => {
          return { token, clientId: "tests", scopes: [], expiresAt: Date.now() / 1000 + 3_600 };
        },
      },
    },
    principal: ({ token }) => token,
    pages: {
      authorize: (request) => {
        const principal = tokenIn(request);
        return principal === undefined ? undefined : { principal, groups: groupsOf(principal) };
      },
    },
  });

  app.tool("order_cake", { description: "Order a cake" }, async (ctx) => {
    const flavour = await ctx.choose("flavour", "Which cake?", ["lemon", "nut"], { relay: true });
    const cake = await ctx.step("bake", () => `${flavour}-${crypto.randomUUID()}`);
    const text = await ctx.ask("text", `What should be written on ${cake}?`, undefined, {
      relay: true,
    });
    return `${cake} says "${text}"`;
  });

  app.tool("save_card", { description: "Save a card" }, async (ctx) => {
    const card = await ctx.ask("card", "The number of the card?", z.string().min(4), {
      sensitive: true,
    });
    return `A card of ${card.length} digits`;
  });

  const refund = { description: "Refund an order", inputSchema: Order, task: "optional" } as const;
  app.tool("refund", refund, async ({ order }, ctx) => {
    const { decisions } = await ctx.approve("refund", `Refund ${order}?`, {
      by: "managers",
      of: 2,
      notify: sendAs(`${order}/refund`),
    });
    const { price } = await ctx.waitFor("price", Price, {
      notify: sendAs(`${order}/price`),
    });
    const said = decisions.map(({ who, via, note = "" }) => [who, via, note].join(" ").trim());
    return `${price} to ${ctx.principal} (${said.join(", ")})`;
  });
  return app;
}

const countIn = (table: string) => `(select count(*) from ${table}) as ${table}`;

/** The class of the objects, which also count what they have. */
function countedObject(app: App) {
  return class extends taskObject(app) {
    readonly #storage: ObjectState["storage"];

    constructor(state: ObjectState, given: unknown) {
      super(state, given);
      this.#storage = state.storage;
    }

    /** How many rows it has in each of these tables. Null: it has no tables. */
    counts(): Record<string, unknown> | null {
      const tables = "select 1 from sqlite_master where name = 'tasks'";
      if (this.#storage.sql.exec(tables).toArray().length === 0) return null;
      const select = `select ${["tasks", "spills", "audit"].map(countIn).join(", ")}`;
      return this.#storage.sql.exec(select).toArray()[0] ?? null;
    }
  };
}

/** What the test asks for. */
async function serveTest(app: App, { pathname, searchParams }: URL): Promise<unknown> {
  const { ticket = "", ...given } = Object.fromEntries(searchParams);
  switch (pathname) {
    case "/test/notice":
      return notices[given["of"] ?? ""];
    case "/test/call":
      return app.readTicket(ticket).callId;
    case "/test/deliver":
      return app.deliver(ticket, { price: Number(given["price"]) });
    case "/test/counts": {
      const id = env.TASKS.idFromName(given["object"] ?? "");
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the class above
      const object = env.TASKS.get(id as never) as InstanceType<ReturnType<typeof countedObject>>;
      return object.counts();
    }
    default:
      throw new Error(`There is no ${pathname}.`);
  }
}

/** What a Worker with this app exports. */
export function cakesOn(store: Store) {
  const app = cakes(store);
  // #region decide
  async function decide(request: Request): Promise<Response> {
    const who = tokenIn(request); // Replace this with your own check of who it is.
    if (who === undefined) return new Response("Unauthorized", { status: 401 });
    const { ticket, ...decision } = Decision.parse(await request.json());
    return Response.json(await app.decide(ticket, { who, groups: groupsOf(who), ...decision }));
  }
  // #endregion decide

  // #region serve
  async function fetch(request: Request): Promise<Response> {
    const { pathname } = new URL(request.url);
    if (pathname === "/decide") return decide(request);
    return pathname.startsWith("/ask/") ? app.pages(request) : app.fetch(request);
  }
  // #endregion serve
  return {
    Tasks: countedObject(app),
    fetch: async (request: Request) => {
      const url = new URL(request.url);
      if (!url.pathname.startsWith("/test/")) return fetch(request);
      return Response.json((await serveTest(app, url)) ?? null);
    },
  };
}
