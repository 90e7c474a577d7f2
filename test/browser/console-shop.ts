// The app that the consoles of the flows look at: a shop on Postgres, whose refunds wait for a group and whose deliveries
// are made by replicas.

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { parley } from "mcp-parley";
import type { App } from "mcp-parley";
import { postgresStore } from "mcp-parley/postgres";
import { z } from "zod";
import { named } from "../console/callers.ts";
import { keys, quiet } from "../interop/errands.ts";

/** Shorter than usual, so that a dead replica is noticed soon. */
const leaseMs = 3000;

export interface ShopPlace {
  readonly url: string;
  /** A folder in which the truck leaves a note that it has gone once. */
  readonly folder: string;
}

export function shop({ url, folder }: ShopPlace): App {
  const app = parley({
    name: "shop",
    version: "1.0.0",
    keys,
    logger: quiet,
    ...named,
    store: postgresStore(url, { leaseMs }),
  });
  const Order = z.object({ order: z.int() });
  app.tool("refund", { inputSchema: Order, task: "required" }, async ({ order }, ctx) => {
    await ctx.background();
    const amount = await ctx.step("load-order", () => 1240);
    await ctx.approve("pay", `Refund ${amount} € for order ${order}?`, {
      by: "finance",
      about: { Order: order },
      notify: () => {},
    });
    await ctx.step("pay-out", () => "paid");
    return `Order ${order} is refunded.`;
  });
  app.tool("badge", { inputSchema: Order, task: "required" }, async ({ order }, ctx) => {
    await ctx.background();
    const Badge = z.object({ number: z.string().min(4).meta({ title: "Badge number" }) });
    const { number } = await ctx.waitFor("badge", Badge, { notify: () => {} });
    return `Badge ${number} for ${order}.`;
  });
  app.tool("deliver", { inputSchema: Order, task: "required" }, async ({ order }, ctx) => {
    await ctx.background();
    await ctx.step("pack", () => ({ packedBy: process.pid }));
    await ctx.step("drive", () => {
      if (!isFirstDrive(folder, order)) return "delivered";
      process.stdout.write("driving\n");
      return new Promise<string>(() => {});
    });
    return `Order ${order} is delivered.`;
  });
  return app;
}

/** The first truck never arrives. */
function isFirstDrive(folder: string, order: number): boolean {
  try {
    writeFileSync(join(folder, `drive-${order}`), "", { flag: "wx" });
    return true;
  } catch {
    return false;
  }
}
