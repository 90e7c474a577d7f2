// The Azure DevOps flow of the MRTR proposal: the tracker requires a resolution, and for a duplicate the original bug.
// examples/work-items is the same flow with a tracker behind it.

import type { App } from "mcp-parley";
import { z } from "zod";

const Fields = z.object({
  workItemId: z.int(),
  fields: z.record(z.string(), z.string()),
});
const Resolution = z.object({
  resolution: z
    .enum(["Fixed", "Won't Fix", "Duplicate", "By Design"])
    .describe("Resolution type for this bug"),
});
const Original = z.object({
  duplicateOfId: z.number().describe("Work item ID of the original bug"),
});

export const updateWorkItem = (app: App) =>
  app.tool(
    "update_work_item",
    { description: "Set fields of a work item", inputSchema: Fields },
    async ({ workItemId: id }, ctx) => {
      const { resolution } = await ctx.ask(
        "resolution",
        `Resolving Bug #${id} requires a resolution. How was this bug resolved?`,
        Resolution,
      );
      if (resolution !== "Duplicate") {
        return `Bug #${id} resolved as ${resolution}. State set to Resolved.`;
      }
      const { duplicateOfId } = await ctx.ask(
        "duplicate_of",
        "Since this is a duplicate, which work item is the original?",
        Original,
      );
      return `Bug #${id} resolved as Duplicate of Bug #${duplicateOfId}. State set to Resolved and duplicate link created.`;
    },
  );
