// The tool of hello-ask in a file of its own, so that a test can import it without a server.

// #region tool
import { parley } from "mcp-parley";
import { z } from "zod";

const app = parley({ name: "tracker", version: "1.0.0" });
const Bug = z.object({ id: z.int() });

export const resolveBug = app.tool("resolve_bug", { inputSchema: Bug }, async ({ id }, ctx) => {
  const how = await ctx.choose("how", `How was #${id} resolved?`, ["Fixed", "Duplicate"]);
  const of = how === "Duplicate" ? await ctx.ask("of", "Of which bug?", z.int().positive()) : null;
  // The tracker recognises a repeated request by its key.
  await ctx.step("close", ({ idempotencyKey }) =>
    console.log("tracker: close", id, how, of, idempotencyKey),
  );
  return `#${id} closed as ${how}`;
});
// #endregion
