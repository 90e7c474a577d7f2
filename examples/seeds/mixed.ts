// The mixed request of the MRTR proposal: a form for the person and a completion from the client's
// model, in one round.

import type { App } from "mcp-parley";
import { z } from "zod";

export const mixed = (app: App) =>
  app.tool("mixed", { description: "Asks a person and a model in one round" }, async (ctx) => {
    const [login, capital] = await Promise.all([
      ctx.ask(
        "github_login",
        "Please provide your GitHub username",
        z.object({ name: z.string() }),
      ),
      ctx.sample("capital_of_france", {
        prompt: "What is the capital of France?",
        modelPreferences: {
          hints: [{ name: "claude-3-sonnet" }],
          intelligencePriority: 0.8,
          speedPriority: 0.5,
        },
        systemPrompt: "You are a helpful assistant.",
        maxTokens: 100,
      }),
    ]);
    return `${login.name}: ${capital.text}`;
  });
