// #region test
import { memoryStore } from "mcp-parley";
import { approvedBy, play, rejectedBy, timedOut } from "mcp-parley/testing";
import { expect, test } from "vitest";
import { expenses } from "./tool.ts";

const chat = { send: async () => {} };
const bank = { pay: async () => "paid" };
const { pay } = expenses({ store: memoryStore(), chat, bank });
const expense = { amount: 500, to: "ACME" };
const asAda = { principal: "ada" };

test("two managers approve, and the expense is paid", async () => {
  const call = await play(pay, expense, { approval: approvedBy("bo", "cy") }, asAda);
  expect(call.text).toBe("Paid. Approved by bo and cy.");
  expect(call.ran("pay")).toBe(1);
});

test("one refusal is enough", async () => {
  const call = await play(pay, expense, { approval: rejectedBy("bo", "no budget") }, asAda);
  expect(call.isError).toBe(true);
  expect(call.text).toContain("no budget");
  expect(call.ran("pay")).toBe(0);
});

test("nobody decides in time", async () => {
  const call = await play(pay, expense, { approval: timedOut }, asAda);
  expect([call.isError, call.ran("pay")]).toEqual([true, 0]);
});
// #endregion
