// An app on the small store.

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parley } from "mcp-parley";
import { connect } from "mcp-parley/client";
import { expect, test } from "vitest";
import { JsonStore } from "./json-store.ts";

test("an app runs a task on the small store", async () => {
  const folder = await mkdtemp(join(tmpdir(), "json-store-"));
  const store = new JsonStore(join(folder, "tasks.json"));
  const app = parley({ name: "kitchen", version: "1.0.0", store });
  app.tool("cook", { description: "Cook", task: "required" }, async (ctx) => {
    await ctx.background();
    const meal = await ctx.step("plan", () => "soup");
    const isSalted = await ctx.confirm("salt", `Salt in the ${meal}?`);
    return `${meal} ${isSalted ? "with" : "without"} salt`;
  });
  try {
    const { url } = await app.listen(0);
    const server = await connect(url, {
      elicit: () => ({ action: "accept", content: { salt: true } }),
    });
    const { text } = await server.call("cook");
    expect(text).toBe("soup with salt");
    await server.close();
  } finally {
    await app.close();
    await rm(folder, { recursive: true });
  }
});
