// A rule of the operator over every tool whose name begins with "delete_".

import type { App } from "mcp-parley";
import { z } from "zod";

export function addReports(app: App) {
  // #region gate
  const remove = app.tool(
    "delete_report",
    { inputSchema: z.object({ name: z.string() }) },
    ({ name }) => `Deleted ${name}.`,
  );

  app.gate("deletions", {
    tools: ["delete_*"],
    message: ({ tool, args }) => `Run ${tool} on ${String(args["name"])}?`,
  });
  // #endregion
  return remove;
}
