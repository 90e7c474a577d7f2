// Resolves a bug in a tracker that requires a resolution, and for a duplicate the original bug.

import { parley } from "mcp-parley";
import type { Logger } from "mcp-parley";
import { z } from "zod";

const resolutions = ["Fixed", "Won't Fix", "Duplicate", "By Design"] as const;

export interface Tracker {
  readonly update: (id: number, fields: Record<string, unknown>, idempotencyKey: string) => void;
  readonly link: (id: number, duplicateOf: number, idempotencyKey: string) => void;
}

/** Silent, because the example itself prints what happens. */
const quiet: Logger = {
  debug: () => {},
  info: () => {},
  warn: console.error,
  error: console.error,
};

export function workItems(tracker: Tracker) {
  const app = parley({ name: "work-items", version: "1.0.0", logger: quiet });
  const updateWorkItem = app.tool(
    "update_work_item",
    {
      description: "Set fields of a work item",
      inputSchema: z.object({ workItemId: z.int(), fields: z.record(z.string(), z.string()) }),
    },
    async ({ workItemId, fields }, ctx) => {
      if (fields["System.State"] !== "Resolved") {
        await ctx.step("update", ({ idempotencyKey }) =>
          tracker.update(workItemId, fields, idempotencyKey),
        );
        return `Work item #${workItemId} updated.`;
      }
      const resolution = await ctx.choose(
        "resolution",
        `Resolving Bug #${workItemId} requires a resolution. How was this bug resolved?`,
        resolutions,
      );
      if (resolution !== "Duplicate") {
        await ctx.step("update", ({ idempotencyKey }) =>
          tracker.update(workItemId, { ...fields, Resolution: resolution }, idempotencyKey),
        );
        return `Bug #${workItemId} resolved as ${resolution}. State set to Resolved.`;
      }
      const { duplicateOfId } = await ctx.ask(
        "duplicate_of",
        "Since this is a duplicate, which work item is the original?",
        z.object({ duplicateOfId: z.int().describe("Work item ID of the original bug") }),
      );
      await ctx.step("update", ({ idempotencyKey }) =>
        tracker.update(workItemId, { ...fields, Resolution: resolution }, idempotencyKey),
      );
      await ctx.step("link", ({ idempotencyKey }) =>
        tracker.link(workItemId, duplicateOfId, idempotencyKey),
      );
      return `Bug #${workItemId} resolved as Duplicate of Bug #${duplicateOfId}. State set to Resolved and duplicate link created.`;
    },
  );
  return { app, updateWorkItem };
}
