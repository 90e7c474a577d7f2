// A small app for every host: one tool asks, another returns the caller.

import { parley } from "mcp-parley";
import type { App, ParleyOptions } from "mcp-parley";
import { z } from "zod";
import { keys, quiet } from "../interop/errands.ts";

export interface Desk {
  readonly app: App;
  /** How many times the body of the tool that asks has run. */
  readonly stamped: () => number;
}

export function desk(options: Partial<ParleyOptions> = {}): Desk {
  let stamps = 0;
  const app = parley({
    keys,
    logger: quiet,
    ...options,
    name: "desk",
    version: "1.0.0",
    auth: undefined,
  });
  app.tool("stamp", { inputSchema: z.object({ page: z.string() }) }, async ({ page }, ctx) => {
    const name = await ctx.ask("name", "Your name?");
    await ctx.step("stamp", () => void (stamps += 1));
    return `${page} stamped for ${name}`;
  });
  app.tool("whoami", {}, (ctx) => ctx.principal ?? "nobody");
  return { app, stamped: () => stamps };
}
