// The tools of the mcpkit tutorial: one question, two questions, the model, the roots, several kinds at once, and rounds
// followed by a task.

import type { App } from "mcp-parley";
import { z } from "zod";

const Name = z.object({ name: z.string() });

export const greet = (app: App) =>
  app.tool("test_tool_with_elicitation", { description: "Greets by name" }, async (ctx) => {
    const { name } = await ctx.ask("user_name", "What is your name?", Name);
    return `Hello, ${name}!`;
  });

/** Asks for a confirmation. Its answer counts only with the state of the round that asked. */
export const confirm = (app: App) =>
  app.tool("confirm", { description: "Asks for a confirmation" }, async (ctx) => {
    const { ok } = await ctx.ask("confirm", "Please confirm", z.object({ ok: z.boolean() }));
    return ok ? "Confirmed." : "Not confirmed.";
  });

/** Asks the person, the model and the client in one round. */
export const gather = (app: App) =>
  app.tool("gather", { description: "Asks three kinds at once" }, async (ctx) => {
    const [{ name }, greeting, roots] = await Promise.all([
      ctx.ask("user_name", "What is your name?", Name),
      ctx.sample("greeting", "Generate a greeting"),
      ctx.roots("client_roots"),
    ]);
    return [name, greeting.text, ...roots.map(({ uri }) => uri)].join("; ");
  });

/** Asks the client's model. */
export const capital = (app: App) =>
  app.tool("capital", { description: "Asks the model for a capital" }, async (ctx) => {
    const { text } = await ctx.sample("capital_question", "What is the capital of France?");
    return text;
  });

/** Two questions one after the other. The last round has both answers. */
export const multiRound = (app: App) =>
  app.tool("multi_round", { description: "Gathers two answers" }, async (ctx) => {
    const step1 = await ctx.ask("step1", "What is your name?");
    const step2 = await ctx.ask("step2", `What is your favourite colour, ${step1}?`);
    return `Hi ${step1}, your favourite colour is ${step2}.`;
  });

/** Searches the folders of the client, without asking the person. */
export const searchRoots = (app: App) =>
  app.tool("search", { description: "Searches the open projects" }, async (ctx) => {
    const roots = await ctx.roots("client_roots");
    return `Searched ${roots.map(({ uri }) => uri).join(", ")}`;
  });

/** Reports its progress. */
export const summarize = (app: App) =>
  app.tool("summarize", { description: "Summarizes in batches" }, (ctx) => {
    ctx.progress(47, 100, "Processing batch 47/100");
    return "Summarized.";
  });

/** Three phases in one handler: it asks, becomes a task, then works and asks again. */
export const composition = (app: App) =>
  app.tool(
    "composition",
    { description: "Asks first, then works in the background", task: "optional" },
    async (ctx) => {
      const { name } = await ctx.ask("user_name", "What is your name?", Name);
      await ctx.background();
      ctx.progress(1, 2, "working");
      const made = await ctx.step("expensive work", () => `a house for ${name}`);
      const { colour } = await ctx.ask(
        "colour",
        `Which colour has ${made}?`,
        z.object({ colour: z.string() }),
      );
      return `${made}, ${colour}`;
    },
  );
