// A bakery: bread that is ordered in two questions, and cakes that are baked in the background.

import { parley } from "mcp-parley";
import { postgresStore } from "mcp-parley/postgres";
import { Pool } from "pg";
import { z } from "zod";

// Many instances may run at once, so each takes few connections.
const connectionString = process.env["DATABASE_URL"];
const pool = new Pool({ connectionString, max: 3, query_timeout: 15_000 });

export const app = parley({ name: "bakery", version: "1.0.0", store: postgresStore(pool) });

app.tool("order_bread", { description: "Order bread" }, async (ctx) => {
  const kind = await ctx.choose("kind", "Which bread?", ["rye", "wheat"]);
  const loaves = await ctx.ask("loaves", `How many loaves of ${kind}?`, z.int().positive());
  const order = await ctx.step("order", ({ idempotencyKey }) => `order-${idempotencyKey}`);
  return `${loaves} × ${kind}, ${order}`;
});

const Cake = z.object({ flavour: z.string(), restMs: z.int().min(0).default(0) });
const bake = { description: "Bake a cake", inputSchema: Cake, task: "required" } as const;
app.tool("bake_cake", bake, async ({ flavour, restMs }, ctx) => {
  await ctx.background(); // The call is a task from here on.
  await ctx.sleep("rest", restMs);
  const cake = await ctx.step("bake", () => `${flavour}-${crypto.randomUUID()}`);
  const text = await ctx.ask("text", `${cake} is baked. What should be written on it?`);
  return `${cake} says "${text}"`;
});
