import { memoryStore } from "mcp-parley";
import { expect, test } from "vitest";
import { desk } from "./app.ts";

test("pages are for people who have signed in", async () => {
  const app = desk(memoryStore(), ["k".repeat(43)], () => {});
  const away = await app.pages(new Request("https://desk.example.com/ask/unknown"));
  expect(away.status).toBe(404);
  expect((await app.pages(new Request("https://desk.example.com/other"))).status).toBe(404);
  await app.close();
});
