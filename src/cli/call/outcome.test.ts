import { expect, test } from "vitest";
import type { OpenQuestion } from "../../client/index.ts";
import { shownAnswer } from "../prompts/person.ts";
import { questionText } from "./outcome.ts";

const confirmation: OpenQuestion = {
  kind: "form",
  key: "sure",
  message: "Are you sure?",
  schema: { type: "object", properties: {} },
};

test("a question without a field says what to answer, and shows the answer", () => {
  expect(questionText(confirmation)).toBe("? sure (form) Are you sure?\n    sure: yes or no\n");
  expect(shownAnswer(confirmation, { action: "accept", content: {} })).toBe("yes");
  expect(shownAnswer(confirmation, { action: "decline" })).toBe("declined");
});
