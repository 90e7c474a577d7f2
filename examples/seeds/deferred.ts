// The deferred tool of the C# SDK's page: to shed load, it leaves work to a later round and asks nothing.

import { inputRequired } from "mcp-parley";
import type { App } from "mcp-parley";
import { z } from "zod";

export const deferred = (app: App) =>
  app.tool("deferred", { description: "Defers its work" }, async (ctx) => {
    const { step } = await ctx.step("first half", () => ({ step: 1 }));
    await ctx.checkpoint();
    return `Completed step ${step}`;
  });

/** The same in the low-level form, as on the page. */
export const deferredByHand = (app: App) =>
  app.tool("deferred_by_hand", { description: "Defers its work, by hand" }, (ctx) => {
    const state = ctx.state(z.object({ step: z.int() }));
    if (state !== undefined) return `Completed step ${state.step}`;
    return inputRequired({ state: { step: 1 } });
  });
