// Expenses that two managers approve, and never the one who asks.

import { parley } from "mcp-parley";
import { z } from "zod";

const bank = {
  pay: async (amount: number, to: string, key: string) => `${key}: ${amount} to ${to}`,
};
const chat = { send: async (text: string) => void text };

// #region tool
export const app = parley({ name: "expenses", version: "1.0.0" });

const Expense = z.object({ amount: z.number().positive(), to: z.string() });

export const pay = app.tool(
  "pay",
  { description: "Pay an expense", inputSchema: Expense, task: "optional" },
  async ({ amount, to }, ctx) => {
    const { decisions } = await ctx.approve("approval", `Pay $${amount} to ${to}?`, {
      by: "managers",
      of: 2,
      about: { Amount: amount, To: to, "Asked by": ctx.principal ?? "" },
      notify: ({ ticket }) =>
        chat.send(`Please decide: https://expenses.example.com/ask/${ticket}`),
      timeoutMs: 12 * 3_600_000,
    });
    await ctx.step("pay", ({ idempotencyKey }) => bank.pay(amount, to, idempotencyKey));
    return `Paid. Approved by ${decisions.map(({ who }) => who).join(" and ")}.`;
  },
);
// #endregion

// #region gate
app.tool(
  "delete_report",
  { inputSchema: z.object({ name: z.string() }) },
  ({ name }) => `Deleted ${name}.`,
);

app.gate("deletions", {
  tools: ["delete_*"],
  message: ({ tool, args }) => `Run ${tool} on ${String(args["name"])}?`,
});
// #endregion
