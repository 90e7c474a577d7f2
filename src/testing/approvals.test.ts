// Approvals in the test kit: what a script writes for them, and what it may not.

import { parley, UnansweredError } from "mcp-parley";
import type { Notice } from "mcp-parley";
import { approvedBy, crashTest, declined, play, rejectedBy, timedOut } from "mcp-parley/testing";
import { expect, test } from "vitest";
import { z } from "zod";

const app = parley({ name: "kit", version: "1.0.0" });
const pay = app.tool(
  "pay",
  { task: "optional", inputSchema: z.object({ amount: z.int() }) },
  async ({ amount }, ctx) => {
    try {
      const { decisions } = await ctx.approve("pay", `Pay $${amount}?`, {
        by: "managers",
        of: 2,
        about: { Amount: amount },
        notify: () => undefined,
        timeoutMs: 60_000,
      });
      await ctx.step("transfer", ({ idempotencyKey }) => `${amount} ${idempotencyKey}`);
      return `paid: ${decisions.map(({ who }) => who).join(" and ")}`;
    } catch (error) {
      if (!(error instanceof UnansweredError)) throw error;
      return `${error.reason}: ${error.decisions.map(({ note }) => note).join()}`;
    }
  },
);
const asAda = { principal: "ada" };

test("people approve, refuse or do not decide in time", async () => {
  const approved = await play(pay, { amount: 5 }, { pay: approvedBy("bo", "cy") }, asAda);
  expect(approved.text).toBe("paid: bo and cy");
  expect(approved.asked).toMatchObject([
    { key: "pay", kind: "approval", message: "Pay $5?", about: { Amount: 5 } },
  ]);
  const refused = await play(pay, { amount: 5 }, { pay: rejectedBy("bo", "no budget") }, asAda);
  expect(refused.text).toBe("declined: no budget");
  expect(refused.ran("transfer")).toBe(0);
  expect((await play(pay, { amount: 5 }, { pay: timedOut }, asAda)).text).toBe("timed_out: ");
});

test("crashTest kills its worker around an approval, and nothing is paid twice", async () => {
  const { repeats } = await crashTest(pay, { amount: 5 }, { pay: approvedBy("bo", "cy") }, asAda);
  expect(repeats.every(({ step }) => step === "transfer" || step.startsWith("pay"))).toBe(true);
});

test("crashTest rejects a call that ends with an error anyway, unless the test expects it", async () => {
  const fail = app.tool("fail", {}, async (ctx) => {
    if (await ctx.confirm("go", "Go?")) throw new Error("The bank is closed.");
    return "stayed";
  });
  await expect(crashTest(fail, {}, { go: true })).rejects.toThrow(
    /^"fail" ends with an error even without a mishap: .*The bank is closed\./,
  );
  const { plays } = await crashTest(fail, {}, { go: true }, { endsInError: true });
  expect(plays).toBeGreaterThan(1);
  await expect(crashTest(fail, {}, { go: false }, { endsInError: true })).rejects.toThrow(
    '"fail" does not end with an error, although endsInError says so.',
  );
});

test("a notice has a made-up address if the app has none", async () => {
  const told: string[] = [];
  const sign = app.tool("sign", { task: "optional" }, async (ctx) => {
    const notify = ({ url }: Notice) => told.push(url);
    await ctx.approve("sign", "Sign?", { by: "managers", notify });
    await ctx.waitFor("stamp", z.boolean(), { notify });
    return "signed";
  });
  const { text } = await play(sign, {}, { sign: approvedBy("bo"), stamp: true }, asAda);
  expect(text).toBe("signed");
  expect(told).toEqual([
    expect.stringMatching(/^https:\/\/play\.example\/ask\/t1\./),
    expect.stringMatching(/^https:\/\/play\.example\/ask\/t1\./),
  ]);
});

test("a script that cannot be right is refused", async () => {
  const wrong = (answer: never) => play(pay, { amount: 5 }, { pay: answer }, asAda);
  await expect(wrong(true as never)).rejects.toThrow(
    'The script\'s answer to "pay" is true. An approval by a group takes approvedBy("bo", "cy"), rejectedBy("bo", "why") or timedOut.',
  );
  await expect(wrong(declined as never)).rejects.toThrow("An approval by a group takes");
  await expect(wrong(approvedBy("bo", "ada") as never)).rejects.toThrow(
    'The script approves "pay" as "ada", who made the call. The caller cannot approve their own request.',
  );
  await expect(wrong(approvedBy("bo") as never)).rejects.toThrow(
    'The script lets 1 approve "pay", and 2 must.',
  );
  const nobody = play(pay, { amount: 5 }, { pay: approvedBy("bo", "cy") });
  await expect(nobody).rejects.toThrow("this call has no principal");
});

test("an approval by the caller is a confirmation", async () => {
  const go = app.tool("go", { approve: () => "Go?" }, async (ctx) => {
    await ctx.approve("further", "Further?");
    return "went";
  });
  const played = await play(go, {}, { "~approve": true, further: true });
  expect(played.text).toBe("went");
  expect(played.asked.map(({ kind }) => kind)).toEqual(["form", "form"]);
  const stopped = await play(go, {}, { "~approve": true, further: declined });
  expect(stopped.isError).toBe(true);
});
