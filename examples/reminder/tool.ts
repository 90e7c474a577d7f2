// A timer that outlives the process.

import { parley } from "mcp-parley";
import { z } from "zod";

export function reminderTool(send: (text: string, idempotencyKey: string) => void) {
  const app = parley({ name: "reminders", version: "1.0.0" });
  const Reminder = z.object({ text: z.string(), hours: z.number().positive() });
  // #region tool
  return app.tool(
    "remind_me",
    { description: "Send a reminder later", inputSchema: Reminder, task: "required" },
    async ({ text, hours }, ctx) => {
      await ctx.background();
      await ctx.sleep("delay", hours * 3_600_000);
      await ctx.step("send", ({ idempotencyKey }) => send(text, idempotencyKey));
      return "Reminder sent.";
    },
  );
  // #endregion
}
