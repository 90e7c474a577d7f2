// Errands that continue in the background: those of the official suite, and two that ask for a model and for roots.

import { memoryStore, parley } from "mcp-parley";
import type { App, ParleyOptions } from "mcp-parley";
import { z } from "zod";
import { addTasks } from "../conformance/tasks.ts";
import { keys, quiet } from "./errands.ts";

export function longErrands(options: Partial<ParleyOptions> = {}): App {
  const app = parley({
    keys,
    logger: quiet,
    store: memoryStore(),
    ...options,
    name: "long errands",
    version: "1.0.0",
    auth: undefined,
  });
  addTasks(app);
  app.tool("motto", { description: "Asks the model", task: "required" }, async (ctx) => {
    await ctx.background();
    return (await ctx.sample("motto", "A motto")).text;
  });
  app.tool("file_it", { description: "Asks for the roots", task: "required" }, async (ctx) => {
    await ctx.background();
    const [root] = await ctx.roots();
    return `filed in ${root?.uri}`;
  });
  app.tool(
    "weigh_it",
    {
      description: "Has structured content",
      outputSchema: z.object({ grams: z.int() }),
      task: "optional",
    },
    async (ctx) => {
      await ctx.background();
      ctx.progress(1, 2, "on the scales");
      return { grams: 500 };
    },
  );
  app.tool("sign_in", { description: "Sends to a page", task: "required" }, async (ctx) => {
    await ctx.background();
    await ctx.openUrl("page", "Sign in", (ticket) => `https://example.com/in?state=${ticket}`);
    return "signed in";
  });
  return app;
}
