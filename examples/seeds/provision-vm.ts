// The VM of the C# SDK's page: the costs are confirmed in a round, and then the call becomes a task. The same `ctx` asks
// inside the task. examples/provision-vm is a similar tool with a cloud behind it.

import type { App } from "mcp-parley";
import { z } from "zod";

/** Takes five minutes, as on the page, unless a test says otherwise. */
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
