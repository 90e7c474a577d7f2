// Two short tools of the C# SDK's page: one awaits a confirmation, and one drives its round itself and has a text for
// clients that cannot be asked.

import { acceptedContent } from "@modelcontextprotocol/server";
import { inputRequired } from "mcp-parley";
import type { App } from "mcp-parley";
import { z } from "zod";

export const confirmAction = (app: App) =>
  app.tool(
    "confirm_action",
    {
      description: "Asks before it acts",
      inputSchema: z.object({ action: z.string() }),
    },
    async ({ action }, ctx) => {
      const outcome = await ctx.elicit("confirm", {
        message: `Do you want to proceed with: ${action}?`,
        requestedSchema: z.object({
          confirm: z.boolean().optional().describe("Confirm the action"),
        }),
      });
      return outcome.action === "accept" ? "Action confirmed!" : "Action cancelled.";
    },
  );

const Answer = z.object({ answer: z.string().describe("Your answer") });

export const answerQuestion = (app: App) =>
  app.tool(
    "answer_question",
    {
      description: "Asks in the low-level form",
      inputSchema: z.object({ question: z.string() }),
    },
    ({ question }, ctx) => {
      const given = acceptedContent(ctx.answers, "user_answer", Answer);
      if (given !== undefined) return `You answered: ${given.answer}`;
      if (!ctx.can("form")) {
        return "This tool asks a question, and your client cannot be asked. Use a client that shows forms.";
      }
      const message = `Please answer: ${question}`;
      return inputRequired({
        inputRequests: { user_answer: inputRequired.elicit({ message, requestedSchema: Answer }) },
        state: "awaiting-answer",
      });
    },
  );
