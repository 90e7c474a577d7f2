// A server for Deno. `npm run test:runtime -- deno` runs it.

// #region server
import process from "node:process";
import { parley } from "mcp-parley";
import { sqliteStore } from "mcp-parley/sqlite";

const app = parley({ name: "bakery", version: "1.0.0", store: sqliteStore("tasks.db") });

app.tool("bake_cake", { description: "Bake a cake", task: "optional" }, async (ctx) => {
  const flavour = await ctx.choose("flavour", "Which cake?", ["lemon", "nut"]);
  await ctx.background(); // The call is a task from here on.
  const cake = await ctx.step("bake", () => `${flavour}-${crypto.randomUUID()}`);
  const text = await ctx.ask("text", `${cake} is baked. What should be written on it?`);
  return `${cake} says "${text}"`;
});

const hostname = "127.0.0.1"; // Otherwise every machine that can reach this one may call it.
const port = Number(process.env["PORT"] ?? 3000);
await app.work(); // Tasks run in this process, which needs a store.
const server = Deno.serve({ hostname, port }, app.fetch);
console.log(`ready at http://${hostname}:${server.addr.port}/mcp`);
// #endregion server

/** The part of Deno that is used here. */
declare const Deno: {
  serve: (
    options: { hostname: string; port: number },
    fetch: (request: Request) => Promise<Response>,
  ) => { addr: { port: number } };
};
