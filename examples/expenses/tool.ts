// Expenses that two managers approve, and never the one who asks.

// #region tool
import { parley } from "mcp-parley";
import type { Store } from "mcp-parley";
import { z } from "zod";
import { auth, signedIn } from "./people.ts";

interface Company {
  readonly store: Store; // sqliteStore("expenses.db"), or postgresStore(url)
  readonly chat: { readonly send: (text: string) => Promise<void> };
  readonly bank: {
    readonly pay: (amount: number, to: string, key: string) => Promise<string>;
  };
}

const Expense = z.object({ amount: z.number().positive(), to: z.string() });

export function expenses({ store, chat, bank }: Company) {
  const app = parley({
    name: "expenses",
    version: "1.0.0",
    store,
    // Who calls.
    auth,
    principal: ({ extra: { sub } = {} }) => (typeof sub === "string" ? sub : ""),
    // Where people decide, and who visits: for example { principal: "bo", groups: ["managers"] }.
    url: "https://expenses.example.com",
    pages: {
      authorize: (request) =>
        signedIn(request) ?? Response.redirect("https://expenses.example.com/sign-in"),
    },
  });

  const pay = app.tool(
    "pay",
    { description: "Pay an expense", inputSchema: Expense, task: "optional" },
    async ({ amount, to }, ctx) => {
      const { decisions } = await ctx.approve("approval", `Pay $${amount} to ${to}?`, {
        by: "managers",
        of: 2,
        about: { Amount: amount, To: to, "Asked by": ctx.principal ?? "" },
        notify: ({ url }) => chat.send(`Please decide: ${url}`),
        timeoutMs: 12 * 3_600_000,
      });
      await ctx.step("pay", ({ idempotencyKey }) => bank.pay(amount, to, idempotencyKey));
      return `Paid. Approved by ${decisions.map(({ who }) => who).join(" and ")}.`;
    },
  );

  return { app, pay };
}
// #endregion
