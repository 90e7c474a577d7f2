// An app as a Worker that keeps nothing: calls only ask, and their state travels with the client.

// #region worker
import { parley } from "mcp-parley";
import { z } from "zod";

const app = parley({ name: "bakery", version: "1.0.0" });

app.tool("order_bread", { description: "Order bread" }, async (ctx) => {
  const kind = await ctx.choose("kind", "Which bread?", ["rye", "wheat"]);
  const loaves = await ctx.ask("loaves", `How many loaves of ${kind}?`, z.int().positive());
  return ctx.step("order", ({ idempotencyKey }) => `${loaves} × ${kind}, order-${idempotencyKey}`);
});

export default { fetch: app.fetch };
// #endregion worker
