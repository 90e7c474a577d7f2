// The app that both forms of Parley serve: the source, and the package that is shipped.

import { z } from "zod";
import type { App, ParleyOptions } from "../../../src/index.ts";
import { implementation } from "./opponent.ts";
import { benchKey } from "../key.ts";

const silent = { debug: () => {}, info: () => {}, warn: console.warn, error: console.error };

// Created once, outside the handlers. "buy_inline" creates its own in every run.
const words = z.string();

export function makeApp(parley: (options: ParleyOptions) => App): App {
  const app = parley({
    ...implementation,
    keys: benchKey,
    logger: silent,
    limits: { rounds: 1_001, tokenBytes: 1024 * 1024 },
  });
  app.tool("echo", { inputSchema: z.object({ text: z.string() }) }, async (args) => args.text);
  // Reports whether it was called through the engine (round-bare.ts).
  app.tool("how", {}, async (ctx) => (ctx === undefined ? "bare" : "wrapped"));
  app.tool("buy", { inputSchema: z.object({ item: z.string() }) }, async ({ item }, ctx) => {
    const price = await ctx.step("price", () => 42);
    const size = await ctx.ask("size", "Which size?", words);
    return `${item}, ${size}, for ${price}`;
  });
  app.tool("buy_inline", { inputSchema: z.object({ item: z.string() }) }, async ({ item }, ctx) => {
    const price = await ctx.step("price", () => 42);
    const size = await ctx.ask("size", "Which size?", z.string());
    return `${item}, ${size}, for ${price}`;
  });
  app.tool("form", {}, async (ctx) => {
    const keys = ["street", "city", "country", "note"];
    const answers = await Promise.all(keys.map((key) => ctx.ask(key, `${key}?`, words)));
    return answers.join();
  });
  app.tool("recall", { inputSchema: z.object({ bytes: z.int() }) }, async ({ bytes }, ctx) => {
    const text = await ctx.step("look up", () => "x".repeat(bytes));
    const how = await ctx.ask("how", "How is it?", words);
    return `${text.length} bytes, ${how}`;
  });
  app.tool("count", { inputSchema: z.object({ rounds: z.int() }) }, async ({ rounds }, ctx) => {
    for (let at = 1; at < rounds; at += 1) await ctx.ask(`q${at}`, "And now?", words);
    return `${rounds} rounds`;
  });
  app.resource("note", "notes://bench/{day}", {}, async (_uri, { day }, ctx) => {
    const how = await ctx.ask("how", "How was it?", words);
    return `${day}, ${how}`;
  });
  return app;
}
