// A bakery on Cloudflare Workers: bread that is ordered in two questions, and cakes that are baked in the background. A
// Durable Object keeps the cakes and goes on with them. There is no other service.

// #region worker
import { env } from "cloudflare:workers";
import { parley } from "mcp-parley";
import { durableObjectStore, taskObject } from "mcp-parley/durable-object";
import { z } from "zod";

const store = durableObjectStore(() => env.TASKS);
export const app = parley({ name: "bakery", version: "1.0.0", store });

app.tool("order_bread", { description: "Order bread" }, async (ctx) => {
  const kind = await ctx.choose("kind", "Which bread?", ["rye", "wheat"]);
  const loaves = await ctx.ask("loaves", `How many loaves of ${kind}?`, z.int().positive());
  const order = await ctx.step("order", ({ idempotencyKey }) => `order-${idempotencyKey}`);
  return `${loaves} × ${kind}, ${order}`;
});

const twoDaysMs = 2 * 24 * 3_600_000;
const Cake = z.object({ flavour: z.string(), restMs: z.int().min(0).default(twoDaysMs) });
const bake = { description: "Bake a cake", inputSchema: Cake, task: "required" } as const;
app.tool("bake_cake", bake, async ({ flavour, restMs }, ctx) => {
  await ctx.background(); // The call is a task from here on.
  const cake = await ctx.step("bake", () => `${flavour}-${crypto.randomUUID()}`);
  const text = await ctx.ask("text", `${cake} is baked. What should be written on it?`);
  await ctx.sleep("rest", restMs); // The icing dries.
  return `${cake} says "${text}"`;
});

export class Tasks extends taskObject(app) {}

export default { fetch: app.fetch };
// #endregion worker
