// A replica that is told to end while a body runs. The body takes a moment longer, as a request to another service does.

import { once } from "node:events";
import process from "node:process";
import { setTimeout as timeout } from "node:timers/promises";
import { parley } from "mcp-parley";
import type { App } from "mcp-parley";
import { openStore, ordersHere } from "./place.ts";
import type { Place } from "./place.ts";
import { say } from "./replica-process.ts";

export interface LeavingOrders {
  readonly place: Place;
  readonly keys: string;
}

const longerMs = 250;

/** The replica, and the one that takes over. */
export function bakery({ place, keys }: LeavingOrders, ran: (step: string) => void): App {
  const app = parley({
    name: "bakery",
    version: "1.0.0",
    keys,
    store: openStore(place),
    logger: { debug: quiet, info: quiet, warn: quiet, error: quiet },
  });
  app.tool("bake", { task: "required" }, async (ctx) => {
    await ctx.background();
    const what = await ctx.step("bake", () => baked(ran, "bake"));
    await ctx.step("ice", () => ran("ice"));
    return what;
  });
  app.tool("order", { once: true }, async (ctx) => {
    const what = await ctx.ask("what", "What would you like?");
    return ctx.step("order", async () => `${what}, ${await baked(ran, "order")}`);
  });
  return app;
}

async function baked(ran: (step: string) => void, step: string): Promise<string> {
  const told = once(process, "SIGTERM");
  ran(step);
  await told;
  await timeout(longerMs);
  return "baked";
}

const quiet = () => {};

if (process.env["PARLEY_FAULTS"] !== undefined) {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the test wrote it
  const app = bakery(ordersHere() as LeavingOrders, (step) => say({ ran: step }));
  const { url } = await app.listen(0);
  say({ url });
}
