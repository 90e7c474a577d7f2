// The echo tool of the MRTR proposals: a task that asks what to echo, unless the arguments say so.

import type { App } from "mcp-parley";
import { z } from "zod";

export const echo = (app: App) =>
  app.tool(
    "echo",
    {
      description: "Echoes its input",
      inputSchema: z.object({ input: z.string().optional() }),
      task: "optional",
    },
    async ({ input }, ctx) => {
      await ctx.background({ ttlMs: 60_000 });
      if (input !== undefined) return `Echo: ${input}`;
      const asked = await ctx.ask(
        "echo_input",
        "Please provide the input string to echo back",
        z.object({ input: z.string() }),
      );
      return `Echo: ${asked.input}`;
    },
  );
