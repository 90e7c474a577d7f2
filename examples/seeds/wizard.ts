// The multi-step wizard of the C# SDK's page. There it is a state machine in which the name given in the
// first round is gone by the third; here it is two lines that ask.

import { parley } from "mcp-parley";
import { z } from "zod";

const app = parley({ name: "wizard", version: "1.0.0" });

export const wizard = app.tool("wizard", { description: "Multi-step wizard" }, async (ctx) => {
  const name = await ctx.ask("name", "What's your name?");
  const age = await ctx.ask("age", `Hi ${name}! How old are you?`, z.number().describe("Your age"));
  return `Welcome, ${name}! You are ${age} years old.`;
});

// The same page's tool that puts work off to a later round, for load shedding.
export const deferred = app.tool("deferred", { description: "Defers its work" }, async (ctx) => {
  const { step } = await ctx.step("first half", () => ({ step: 1 }));
  await ctx.checkpoint();
  return `Completed step ${step}`;
});
