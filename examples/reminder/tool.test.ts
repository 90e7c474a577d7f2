import { play } from "mcp-parley/testing";
import { expect, test } from "vitest";
import { reminderTool } from "./tool.ts";

test("the reminder is sent once, and the test does not wait for hours", async () => {
  const sent: string[] = [];
  const remindMe = reminderTool((text) => void sent.push(text));
  const call = await play(remindMe, { text: "Water the plants", hours: 8 });
  expect(call.text).toBe("Reminder sent.");
  expect(sent).toEqual(["Water the plants"]);
});
