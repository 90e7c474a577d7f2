// A server that asks each caller for its number twice, in rounds and in tasks. It can also run over standard input and
// output.

import { fileURLToPath } from "node:url";
import { memoryStore, parley } from "mcp-parley";
import type { App } from "mcp-parley";
import { z } from "zod";
import { keys, quiet } from "../interop/errands.ts";

export function many(): App {
  const limits = { tasksPerPrincipal: 1_000 };
  const store = memoryStore();
  const app = parley({ name: "many", version: "1.0.0", keys, logger: quiet, store, limits });
  const inputSchema = z.object({ n: z.int() });
  const Number = z.int();
  app.tool("in_rounds", { description: "Asks", inputSchema }, async ({ n }, ctx) => {
    const one = await ctx.ask("one", `Who is ${n}?`, Number);
    const two = await ctx.ask("two", `Again, who is ${n}?`, Number);
    return `${n} ${one} ${two}`;
  });
  const inTask = { description: "Asks", inputSchema, task: "required" } as const;
  app.tool("in_a_task", inTask, async ({ n }, ctx) => {
    await ctx.background();
    const one = await ctx.ask("one", `Who is ${n}?`, Number);
    const two = await ctx.ask("two", `Again, who is ${n}?`, Number);
    return `${n} ${one} ${two}`;
  });
  return app;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await many().stdio();
