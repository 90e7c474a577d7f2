import { crashTest, play } from "mcp-parley/testing";
import { expect, test } from "vitest";
import { billTool, orderTool, transferTool } from "./tool.ts";
import type { Shop } from "./tool.ts";

const shop: Shop = {
  stock: async () => 3,
  charge: async (_cents, idempotencyKey) => `receipt for ${idempotencyKey.length > 0}`,
  ship: async () => {},
};
const lamp = { item: "lamp", cents: 4_900 };

test("each step runs once, and the checkpoint starts a new round", async () => {
  const call = await play(orderTool(shop), lamp, { sure: true });
  expect(call.text).toBe("lamp is on its way.");
  expect(call.rounds).toBe(3);
  expect([call.ran("stock"), call.ran("charge"), call.ran("ship")]).toEqual([1, 1, 1]);
});

test("a step that keeps failing is tried three times, and then its error is caught", async () => {
  let attempts = 0;
  const refusing: Shop = {
    ...shop,
    charge: async () => {
      attempts += 1;
      throw new Error("card refused");
    },
  };
  const call = await play(orderTool(refusing), lamp, { sure: true });
  expect(call).toMatchObject({ text: "Not ordered: card refused", isError: false });
  expect(attempts).toBe(3);
});

test("after any crash, a body that runs again has the same idempotency key", async () => {
  const options = { mayRepeat: ["stock"] };
  const { repeats } = await crashTest(orderTool(shop), lamp, { sure: true }, options);
  const writes = repeats.filter(({ step }) => step !== "stock");
  expect(writes.length).toBeGreaterThan(0);
  expect(writes.every(({ usesKey }) => usesKey)).toBe(true);
});

test("with once: true the money moves in the second round, which can be repeated safely", async () => {
  const sent: number[] = [];
  const call = await play(
    transferTool(async (cents) => void sent.push(cents)),
    { cents: 500 },
  );
  expect(call).toMatchObject({ text: "500 cents transferred.", rounds: 2 });
  expect(sent).toEqual([500]);
});

test("a call that begins with the new code takes the new path, after any crash as well", async () => {
  const office = { tax: async (_key: string) => {}, send: async (_key: string) => {} };
  const call = await play(billTool(office), {}, { sure: true });
  expect([call.ran("tax"), call.ran("send"), call.text]).toEqual([1, 1, "Sent."]);
  await crashTest(billTool(office), {}, { sure: true });
});
