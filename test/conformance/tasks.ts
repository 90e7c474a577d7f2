// The tools that the suite's `tasks-*` scenarios call.

import { ProtocolError } from "@modelcontextprotocol/server";
import type { App } from "mcp-parley";
import { z } from "zod";

export function addTasks(app: App): void {
  app.tool(
    "greet",
    { description: "Says hello", inputSchema: z.object({ name: z.string() }) },
    ({ name }) => `Hello, ${name}!`,
  );

  app.tool(
    "slow_compute",
    {
      description: "Takes its time",
      inputSchema: z.object({ seconds: z.number(), label: z.string().optional() }),
      task: "optional",
    },
    async ({ seconds, label = "it" }, ctx) => {
      await ctx.background({ ttlMs: 60_000 });
      ctx.progress(0, seconds, "computing");
      await ctx.sleep("compute", seconds * 1_000);
      return `${label} took ${seconds} s`;
    },
  );

  app.tool("failing_job", { description: "Fails in the end", task: "required" }, async (ctx) => {
    await ctx.background();
    await ctx.sleep("work", 500);
    throw new Error("The job has failed.");
  });

  app.tool(
    "protocol_error_job",
    { description: "Ends in an error of the protocol", task: "required" },
    async (ctx) => {
      await ctx.background();
      throw new ProtocolError(-32_603, "The job has broken down.");
    },
  );

  app.tool(
    "confirm_delete",
    {
      description: "Asks before it deletes",
      inputSchema: z.object({ filename: z.string() }),
      task: "required",
    },
    async ({ filename }, ctx) => {
      await ctx.background();
      const form = z.object({ confirm: z.boolean() });
      const { confirm } = await ctx.ask("confirm", `Delete ${filename}?`, form);
      return confirm ? `${filename} is deleted.` : `${filename} is kept.`;
    },
  );

  app.tool("multi_input", { description: "Asks two things", task: "required" }, async (ctx) => {
    await ctx.background();
    const Confirm = z.object({ confirm: z.boolean() });
    const [one, other] = await Promise.all([
      ctx.elicit("first", { message: "The first?", requestedSchema: Confirm }),
      ctx.elicit("second", { message: "The second?", requestedSchema: Confirm }),
    ]);
    return `${one.action} and ${other.action}`;
  });

  app.tool(
    "test_tool_with_task",
    { description: "Asks in a round, then goes on in the background", task: "optional" },
    async (ctx) => {
      const { name } = await ctx.ask(
        "user_name",
        "What is your name?",
        z.object({ name: z.string() }),
      );
      await ctx.background();
      return `Hello, ${name}, from the background.`;
    },
  );
}
