// A server in development says which steps ran, but only to a client that asks for it.

import { parley } from "mcp-parley";
import { connect } from "mcp-parley/client";
import { expect, test } from "vitest";
import { stepsKey } from "../../src/protocol/steps.ts";

const app = parley({ name: "steps", version: "1.0.0", keys: `k:${"A".repeat(43)}` });
app.tool("order", {}, async (ctx) => {
  const price = await ctx.step("price", () => 42);
  if (!(await ctx.confirm("buy", `For ${price}?`))) return "no";
  await ctx.step("pay", () => "paid");
  return "bought";
});
const elicit = () => ({ action: "accept" }) as const;

test("the last round says which steps it ran, and which it only replayed", async () => {
  const server = await connect(app, { elicit, meta: { [stepsKey]: true } });
  const { text, _meta } = await server.call("order");
  expect(text).toBe("bought");
  expect(_meta?.[stepsKey]).toEqual({ ran: ["pay"], replayed: ["price"] });
  await server.close();
});

test("a client that does not ask for the steps does not get them", async () => {
  const server = await connect(app, { elicit });
  const { text, _meta } = await server.call("order");
  expect(text).toBe("bought");
  expect(_meta).not.toHaveProperty(stepsKey);
  await server.close();
});
