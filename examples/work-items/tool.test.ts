import { crashTest, declined, play } from "mcp-parley/testing";
import { beforeEach, expect, test } from "vitest";
import { workItems } from "./tool.ts";

const done: string[] = [];
const { updateWorkItem } = workItems({
  update: (id, fields) => void done.push(`update ${id} ${JSON.stringify(fields)}`),
  link: (id, duplicateOf) => void done.push(`link ${id} ${duplicateOf}`),
});
const bug = { workItemId: 4522, fields: { "System.State": "Resolved" } };

beforeEach(() => {
  done.length = 0;
});

test("a duplicate takes two questions, and the tracker is written to once", async () => {
  const call = await play(updateWorkItem, bug, {
    resolution: "Duplicate",
    duplicate_of: { duplicateOfId: 4301 },
  });
  expect(call.text).toBe(
    "Bug #4522 resolved as Duplicate of Bug #4301. State set to Resolved and duplicate link created.",
  );
  expect(call.asked.map(({ key }) => key)).toEqual(["resolution", "duplicate_of"]);
  expect(call.rounds).toBe(3);
  expect(done).toEqual([
    'update 4522 {"System.State":"Resolved","Resolution":"Duplicate"}',
    "link 4522 4301",
  ]);
});

test("the first question goes over the wire as the proposal prints it", async () => {
  const call = await play(updateWorkItem, bug, { resolution: "Fixed" });
  expect(call.asked[0]).toMatchObject({
    message: "Resolving Bug #4522 requires a resolution. How was this bug resolved?",
    schema: {
      type: "object",
      properties: {
        resolution: { type: "string", enum: ["Fixed", "Won't Fix", "Duplicate", "By Design"] },
      },
      required: ["resolution"],
    },
  });
});

test("any other resolution takes one question", async () => {
  const call = await play(updateWorkItem, bug, { resolution: "By Design" });
  expect(call.text).toBe("Bug #4522 resolved as By Design. State set to Resolved.");
  expect(call.rounds).toBe(2);
});

test("a change to another state asks nothing", async () => {
  const call = await play(updateWorkItem, { workItemId: 7, fields: { "System.State": "Active" } });
  expect(call).toMatchObject({ text: "Work item #7 updated.", rounds: 1, asked: [] });
});

test("a declined question leaves the tracker unchanged", async () => {
  const call = await play(updateWorkItem, bug, { resolution: "Duplicate", duplicate_of: declined });
  expect(call).toMatchObject({ isError: true, text: 'Question "duplicate_of" was declined.' });
  expect(done).toEqual([]);
});

test("mishaps repeat a write only under its own idempotency key", async () => {
  const script = { resolution: "Duplicate", duplicate_of: { duplicateOfId: 4301 } };
  const { repeats } = await crashTest(updateWorkItem, bug, script);
  expect(new Set(repeats.map(({ step }) => step))).toEqual(new Set(["update", "link"]));
  expect(repeats.every(({ usesKey }) => usesKey)).toBe(true);
});
