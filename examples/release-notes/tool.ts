// A tool that streams: a model writes release notes while the caller reads along, the caller approves them, and the
// announcement is written and published in the background.

import { parley } from "mcp-parley";
import type { Context, Store } from "mcp-parley";
import { z } from "zod";

export interface Model {
  /** The answer to a prompt, word by word. The stream of any model's SDK fits. */
  readonly write: (prompt: string, signal: AbortSignal) => AsyncIterable<string>;
}

export interface Site {
  /** Called again with the same key, it publishes nothing more. */
  readonly publish: (text: string, idempotencyKey: string) => Promise<string>;
}

const Release = z.object({ version: z.string(), changes: z.array(z.string()) });

/** With `asksClient`, a client that offers its own model writes the notes. */
export function releaseNotesTool(model: Model, site: Site, store?: Store, asksClient = true) {
  const app = parley({ name: "releases", version: "1.0.0", store });
  // #region tool
  const releaseNotes = app.tool(
    "release_notes",
    { description: "Write and publish release notes", inputSchema: Release, task: "optional" },
    async ({ version, changes }, ctx) => {
      const notes = await written(
        ctx,
        "notes",
        `Release notes for ${version}: ${changes.join("; ")}`,
      );
      if (!(await ctx.confirm("approve", `Publish these notes?\n\n${notes}`))) {
        return "Nothing was published.";
      }
      await ctx.background(); // The call is a task from here on, and goes on streaming.
      const announcement = await ctx.stream("announcement", ({ signal }) =>
        model.write(`Announce ${version} in one sentence.`, signal),
      );
      const url = await ctx.step("publish", ({ idempotencyKey }) =>
        site.publish(`${announcement}\n\n${notes}`, idempotencyKey),
      );
      return `${announcement}\n\n${notes}\n\nPublished at ${url}`;
    },
  );

  /** Asks the client's own model, if it offers one, and shows what it wrote. Otherwise ours writes, word by word. */
  async function written(ctx: Context, key: string, prompt: string): Promise<string> {
    if (!asksClient || !ctx.can("sampling")) {
      return ctx.stream(key, ({ signal }) => model.write(prompt, signal), { retries: 2 });
    }
    const { text } = await ctx.sample(`${key}-of-client`, prompt);
    await ctx.emit(key, text);
    return text;
  }
  // #endregion
  return { app, releaseNotes };
}
