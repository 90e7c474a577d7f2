// Prompts and resources ask in the same way as tools do.

import { parley } from "mcp-parley";
import { z } from "zod";

const app = parley({ name: "wiki", version: "1.0.0" });

// #region prompt
export const review = app.prompt(
  "review",
  { description: "Review a page", argsSchema: z.object({ page: z.string() }) },
  async ({ page }, ctx) => {
    const tone = await ctx.choose("tone", "Which tone?", ["friendly", "strict"]);
    return `Review the page "${page}". Be ${tone}.`;
  },
);
// #endregion

// #region resource
export const note = app.resource(
  "note",
  "notes://{id}",
  { mimeType: "text/plain" },
  async (_uri, { id }, ctx) => {
    const mayRead = await ctx.confirm("share", `Share note ${id} with this client?`);
    return mayRead ? `Contents of note ${id}` : "This note was not shared.";
  },
);
// #endregion
