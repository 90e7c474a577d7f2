// The app that the files beside this one serve.

import { parley } from "mcp-parley";

export function greeter() {
  const app = parley({ name: "greeter", version: "1.0.0" });
  app.tool("greet", { description: "Say hello" }, async (ctx) => {
    const name = await ctx.ask("name", "What is your name?");
    return `Hello, ${name}${ctx.principal === undefined ? "" : ` (signed in as ${ctx.principal})`}!`;
  });
  return app;
}
