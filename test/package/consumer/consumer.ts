// A stranger's project: compiled against the packed tarball, with library checks on and no optional peer.

import { parley, ParleyError, StepError, Unanswered } from "mcp-parley";
import type { Context, Store, Tool } from "mcp-parley";
import { postgresStore } from "mcp-parley/postgres";
import { sqliteStore } from "mcp-parley/sqlite";
import type { TaskStore } from "mcp-parley/store";
import { crashTest, declined, play } from "mcp-parley/testing";
import { z } from "zod";

const app = parley({ name: "consumer", version: "1.0.0" });

async function size(ctx: Context): Promise<"S" | "M"> {
  return ctx.choose("size", "Which size?", ["S", "M"]);
}

const order: Tool<{ item: string }, undefined> = app.tool(
  "order",
  { inputSchema: z.object({ item: z.string() }) },
  async ({ item }, ctx) => {
    const { count } = await ctx.ask("count", "How many?", z.object({ count: z.int().min(1) }));
    const bought = await ctx.step("buy", () => ({ item, count, at: new Date(0) }));
    return `${bought.count} × ${bought.item} (${await size(ctx)}) at ${bought.at.slice(0, 4)}`;
  },
);

const call = await play(order, { item: "hat" }, { count: { count: 2 }, size: "M" });
if (call.text !== "2 × hat (M) at 1970" || call.ran("buy") !== 1) throw new Error(call.transcript);
const refused = await play(order, { item: "hat" }, { count: declined });
if (!refused.isError) throw new Error(refused.transcript);
await crashTest(order, { item: "hat" }, { count: { count: 2 }, size: "M" }, { mayRepeat: ["buy"] });
if (![ParleyError, StepError, Unanswered].every((one) => one.prototype instanceof Error)) {
  throw new Error("the errors are not errors");
}
const stores: readonly Store[] = [sqliteStore("x.db"), postgresStore("postgres://localhost/x")];
const names: readonly TaskStore["~store"][] = stores.map((store) => store["~store"]);
if (names.join(" ") !== "sqlite postgres") throw new Error(names.join(" "));
console.log("consumer ok");
