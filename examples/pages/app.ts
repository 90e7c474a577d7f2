import { parley } from "mcp-parley";
import type { App, Store } from "mcp-parley";
import { z } from "zod";

/** Sends a message, for example by mail or in a chat. */
export type Send = (to: string, text: string) => void | Promise<void>;

// #region app
export function desk(store: Store, keys: readonly string[], send: Send): App {
  const app = parley({
    name: "desk",
    version: "1.0.0",
    store,
    keys,
    url: "https://desk.example.com",
    pages: {
      // Your own session: who is signed in here? Undefined refuses, and a Response sends the visitor elsewhere.
      authorize: (request) => {
        const user = /user=(\w+)/.exec(request.headers.get("cookie") ?? "")?.[1];
        return user === undefined
          ? Response.redirect("https://desk.example.com/sign-in")
          : { principal: user };
      },
    },
  });
  // #endregion

  // #region sensitive
  app.tool("connect_mail", { description: "Connect a mail account" }, async (ctx) => {
    const password = await ctx.ask("password", "Your mail password?", undefined, {
      sensitive: true,
    });
    return `Connected with a password of ${password.length} characters.`;
  });
  // #endregion

  // #region wait
  const Quote = z.object({ price: z.int().min(1), note: z.string().optional() });
  app.tool("get_quote", { description: "Ask sales for a price", task: "optional" }, async (ctx) => {
    const { price } = await ctx.waitFor("quote", Quote, {
      about: { Customer: "ACME", Seats: 40 },
      notify: ({ url }) => send("sales@example.com", `Please quote a price: ${url}`),
      timeoutMs: 3 * 86_400_000,
    });
    return `Sales offers ${price} a month.`;
  });
  // #endregion
  return app;
}
