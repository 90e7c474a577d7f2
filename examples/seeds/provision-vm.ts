// The VM of the C# SDK's page: costs are confirmed in a round, and only then the call becomes a task. Inside the task the
// same `ctx` asks on, by the task's own means. src/cli/demo is the same with a cloud behind it.

import type { App } from "mcp-parley";
import { z } from "zod";

/** Five minutes, as on the page, unless somebody has less time. */
export const provisionVm = (app: App, { takesMs = 5 * 60_000 } = {}) =>
  app.tool(
    "provision-vm",
    {
      description: "Creates a VM, if its costs are agreed to",
      inputSchema: z.object({ vmName: z.string(), asksForZone: z.boolean().default(false) }),
      task: "optional",
    },
    async ({ vmName, asksForZone }, ctx) => {
      const isWanted = await ctx.confirm(
        "costs",
        `Provision VM '${vmName}'? This will incur costs.`,
      );
      if (!isWanted) return "Cancelled by user.";
      await ctx.background();
      await ctx.sleep("provisioning", takesMs);
      const zone = asksForZone ? ` in ${await ctx.ask("zone", "In which zone?")}` : "";
      return `VM '${vmName}' provisioned successfully${zone}.`;
    },
  );
