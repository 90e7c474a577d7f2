// Tests of a tool: answers, a refusal, and every crash on the way.

// #region test
import { crashTest, declined, play } from "mcp-parley/testing";
import { expect, test } from "vitest";
import { resolveBug } from "./tool.ts";

test("a duplicate is closed once, with the bug it duplicates", async () => {
  const call = await play(resolveBug, { id: 4522 }, { how: "Duplicate", of: 4301 });
  expect(call.text).toBe("#4522 closed as Duplicate");
  expect(call.rounds).toBe(3);
  expect(call.ran("close")).toBe(1);
});

test("a declined question closes nothing", async () => {
  const call = await play(resolveBug, { id: 4522 }, { how: declined });
  expect(call.isError).toBe(true);
  expect(call.ran("close")).toBe(0);
});

test("no crash closes the bug under a second idempotency key", async () => {
  const { plays } = await crashTest(resolveBug, { id: 4522 }, { how: "Duplicate", of: 4301 });
  expect(plays).toBeGreaterThan(10);
});
// #endregion

test("the transcript says what happened", async () => {
  const { transcript } = await play(resolveBug, { id: 4522 }, { how: "Duplicate", of: 4301 });
  expect(transcript).toBe(
    [
      'resolve_bug {"id":4522}',
      "round 1",
      "  asks    how: How was #4522 resolved?",
      '  gets    {"action":"accept","content":{"how":"Duplicate"}}',
      "round 2",
      "  asks    of: Of which bug?",
      '  gets    {"action":"accept","content":{"of":4301}}',
      "round 3",
      "  runs    close",
      "done: #4522 closed as Duplicate",
    ].join("\n"),
  );
});
