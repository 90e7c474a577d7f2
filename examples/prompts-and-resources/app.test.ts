import { play } from "mcp-parley/testing";
import { expect, test } from "vitest";
import { note, review } from "./app.ts";

test("a prompt asks before it gives its messages", async () => {
  const call = await play(review, { page: "Home" }, { tone: "strict" });
  expect(call.text).toBe('Review the page "Home". Be strict.');
});

test("a resource asks before it gives its contents", async () => {
  expect((await play(note, "notes://7", { share: true })).text).toBe("Contents of note 7");
  expect((await play(note, "notes://7", { share: false })).text).toBe("This note was not shared.");
});
