// The tools behind the golden files. The token of any release continues here, so the questions and steps below must not
// change. For something new, add a new tool.

import { parley } from "mcp-parley";
import type { Tool } from "mcp-parley";
import { z } from "zod";
import type { Entry } from "../../src/replay/journal.ts";

const app = parley({ name: "golden", version: "1.0.0" });

const everyKind = app.tool(
  "every_kind",
  { inputSchema: z.object({ id: z.int(), note: z.string().optional() }) },
  async ({ id }, ctx) => {
    const quote = await ctx.step("quote", () => ({
      id,
      price: 12.5,
      at: null,
      tags: ["ä", "\u2028"],
    }));
    const failed = await ctx
      .step("fails", () => {
        throw Object.assign(new RangeError("too far"), { code: "E_FAR", data: { km: 3 } });
      })
      .catch((error: unknown) => String(error));
    await ctx.step("nothing", () => {});
    await ctx.checkpoint();
    const [how, form] = await Promise.all([
      ctx.choose("how", `How for ${quote.price}?`, ["Card", { value: "cash", title: "Cash" }]),
      ctx.ask(
        "form",
        "Who?",
        z.object({ name: z.string().min(1), age: z.int().min(0).default(1), ok: z.boolean() }),
        { timeoutMs: 3_600_000 },
      ),
    ]);
    const poem = await ctx.sample("poem", "A short poem");
    const roots = await ctx.roots();
    const isSure = await ctx.confirm("sure", `${how} for ${form.name}?`);
    return JSON.stringify({ quote, failed, how, form, poem: poem.text, roots, isSure });
  },
);

/** One entry of every kind. Releases may add more at the end. */
export const goldenJournal: readonly Entry[] = [
  {
    kind: "answer",
    key: "how",
    digest: "d1",
    value: { action: "accept", content: { how: "Card" } },
  },
  { kind: "expired", key: "late", digest: "d2" },
  { kind: "step", key: "quote", value: { price: 12.5, tags: ["ä", null] } },
  { kind: "step", key: "nothing", value: undefined },
  {
    kind: "threw",
    key: "fails",
    error: { name: "RangeError", message: "far", code: "E", data: [1] },
  },
  { kind: "threw", key: "plain", error: { name: "Error", message: "no" } },
  { kind: "timer", key: "nap" },
  { kind: "background", key: "~background-1" },
  { kind: "checkpoint", key: "~checkpoint-1" },
  { kind: "changed", key: "how" },
  { kind: "patched", key: "vat", path: "new" },
  { kind: "patched", key: "vat", path: "old" },
  { kind: "patched", key: "vat", path: "open" },
];

export const goldenTools: readonly Tool[] = [everyKind];

export const goldenScript: Record<string, Record<string, object>> = {
  every_kind: {
    how: { action: "accept", content: { how: "cash" } },
    form: { action: "accept", content: { name: "Ada", ok: true } },
    poem: {
      role: "assistant",
      content: { type: "text", text: "Roses" },
      model: "m",
      stopReason: "endTurn",
    },
    roots: { roots: [{ uri: "file:///home/ada", name: "home" }] },
    sure: { action: "accept", content: {} },
  },
};

export const goldenArguments: Record<string, Record<string, unknown>> = {
  every_kind: { id: 7, note: "with ümläuts" },
};
