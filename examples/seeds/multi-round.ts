// The multi-round tool of the mcpkit tutorial: two questions one after the other, with all earlier answers
// at hand in the last round. And its mixed request: a form and a completion in one round.

import { parley } from "mcp-parley";

const app = parley({ name: "multi-round", version: "1.0.0" });

export const multiRound = app.tool(
  "multi_round",
  { description: "Gathers two answers" },
  async (ctx) => {
    const step1 = await ctx.ask("step1", "What is your name?");
    const step2 = await ctx.ask("step2", `What is your favourite colour, ${step1}?`);
    return `Hi ${step1}, your favourite colour is ${step2}.`;
  },
);

export const mixed = app.tool(
  "mixed",
  { description: "Asks a person and a model in one round" },
  async (ctx) => {
    const [login, capital] = await Promise.all([
      ctx.ask("github_login", "Please provide your GitHub username"),
      ctx.sample("capital_of_france", {
        prompt: "What is the capital of France?",
        systemPrompt: "You are a helpful assistant.",
        maxTokens: 100,
      }),
    ]);
    return `${login}: ${capital.text}`;
  },
);
