// The app that each runtime serves for the smoke suite.

import { parley } from "mcp-parley";
import type { App, ParleyOptions } from "mcp-parley";

export function smokeApp(options: Pick<ParleyOptions, "store"> = {}): App {
  const app = parley({ name: "smoke", version: "1.0.0", ...options });
  app.tool("book", { description: "Book a table" }, async (ctx) => {
    const where = await ctx.ask("where", "Which restaurant?");
    const when = await ctx.choose("when", `When at ${where}?`, ["noon", "evening"]);
    const table = await ctx.step("reserve", () => Promise.resolve(7));
    const isWanted = await ctx.confirm("take", `Table ${table} is free. Take it?`);
    return isWanted ? `Table ${table} at ${where}, ${when}.` : "Nothing was booked.";
  });
  app.prompt("review", { description: "Review a text" }, async (ctx) => {
    const tone = await ctx.choose("tone", "Which tone?", ["kind", "strict"]);
    return `Write a ${tone} review.`;
  });
  if (options.store === undefined) return app;
  app.tool("cook", { description: "Cook a meal", task: "required" }, async (ctx) => {
    await ctx.background();
    const meal = await ctx.step("plan", () => Promise.resolve("soup"));
    const salt = await ctx.confirm("salt", `Salt in the ${meal}?`);
    return `${meal} ${salt ? "with" : "without"} salt`;
  });
  return app;
}
