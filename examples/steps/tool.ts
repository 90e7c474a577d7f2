// Steps: effects that are recorded once, retried, caught, and kept apart by checkpoints.

import { parley, StepError } from "mcp-parley";
import { z } from "zod";

export interface Shop {
  readonly stock: (item: string) => Promise<number>;
  readonly charge: (cents: number, idempotencyKey: string, signal: AbortSignal) => Promise<string>;
  readonly ship: (item: string, idempotencyKey: string) => Promise<void>;
}

export function orderTool(shop: Shop) {
  const app = parley({ name: "shop", version: "1.0.0" });
  const Order = z.object({ item: z.string(), cents: z.int() });
  return app.tool(
    "order",
    { description: "Order an item", inputSchema: Order },
    async ({ item, cents }, ctx) => {
      if (!(await ctx.confirm("sure", `Order ${item} for ${cents} cents?`))) return "Not ordered.";

      // #region read
      // Reads belong in steps, because the stock may differ in the next round.
      const stock = await ctx.step("stock", () => shop.stock(item));
      if (stock === 0) return `${item} is sold out.`;
      // #endregion

      // #region write
      try {
        const receipt = await ctx.step(
          "charge",
          ({ idempotencyKey, signal }) => shop.charge(cents, idempotencyKey, signal),
          { retries: 2, backoffMs: 100 },
        );
        ctx.log("info", `charged, receipt ${receipt}`);
      } catch (error) {
        // After three attempts. What is left of the error is its name, message, code and data.
        if (!(error instanceof StepError)) throw error;
        return `Not ordered: ${error.message}`;
      }
      // #endregion

      // #region checkpoint
      // If the process dies while it ships, the charge above is already recorded.
      await ctx.checkpoint();
      await ctx.step("ship", ({ idempotencyKey }) => shop.ship(item, idempotencyKey));
      // #endregion
      return `${item} is on its way.`;
    },
  );
}

export function transferTool(transfer: (cents: number, idempotencyKey: string) => Promise<void>) {
  const app = parley({ name: "bank", version: "1.0.0" });
  // #region once
  return app.tool(
    "transfer",
    {
      description: "Transfer money",
      inputSchema: z.object({ cents: z.int() }),
      once: true, // needs a store
    },
    async ({ cents }, ctx) => {
      await ctx.step("transfer", ({ idempotencyKey }) => transfer(cents, idempotencyKey));
      return `${cents} cents transferred.`;
    },
  );
  // #endregion
}

export function billTool(office: Readonly<Record<"tax" | "send", (key: string) => Promise<void>>>) {
  const app = parley({ name: "office", version: "2.0.0" });
  return app.tool("bill", { description: "Send a bill" }, async (ctx) => {
    if (!(await ctx.confirm("sure", "Send the bill?"))) return "Not sent.";
    // #region patched
    // Version 2 reports the tax first. Calls that were past this line with version 1 go on without it.
    if (await ctx.patched("tax")) {
      await ctx.step("tax", ({ idempotencyKey }) => office.tax(idempotencyKey));
    }
    await ctx.step("send", ({ idempotencyKey }) => office.send(idempotencyKey));
    // #endregion
    return "Sent.";
  });
}
