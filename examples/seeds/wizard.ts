// The wizard of the C# SDK's page asks for a name, then for an age. The page writes it as a state machine whose last round
// reads an answer of an earlier one. A client sends only the answers of the last round, so the name would be missing.

import { acceptedContent } from "@modelcontextprotocol/server";
import { inputRequired } from "mcp-parley";
import type { App } from "mcp-parley";
import { z } from "zod";

const Name = z.object({ name: z.string().describe("Your name") });
const Age = z.object({ age: z.number().describe("Your age") });

/** The same with two lines that ask. */
export const wizard = (app: App) =>
  app.tool("wizard", { description: "Asks for a name, then for an age" }, async (ctx) => {
    const { name } = await ctx.ask("name", "What's your name?", Name);
    const { age } = await ctx.ask("age", `Hi ${name}! How old are you?`, Age);
    return `Welcome, ${name}! You are ${age} years old.`;
  });

/** The page's own state machine. It works here, because Parley keeps the answers of all rounds. */
// #region by-hand
export const wizardByHand = (app: App) =>
  app.tool("wizard_by_hand", { description: "Asks for a name, then for an age" }, (ctx) => {
    const step = ctx.state(z.enum(["step-1", "step-2"]));
    const name = acceptedContent(ctx.answers, "name", Name)?.name;
    if (step === "step-2") {
      const age = acceptedContent(ctx.answers, "age", Age)?.age;
      return `Welcome, ${name}! You are ${age} years old.`;
    }
    if (step === "step-1") {
      const message = `Hi ${name}! How old are you?`;
      const age = inputRequired.elicit({ message, requestedSchema: Age });
      return inputRequired({ inputRequests: { age }, state: "step-2" });
    }
    const message = "What's your name?";
    return inputRequired({
      inputRequests: { name: inputRequired.elicit({ message, requestedSchema: Name }) },
      state: "step-1",
    });
  });
// #endregion
