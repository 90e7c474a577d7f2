// What the questions of a 2025-11-25 session are called.

import { expect, test } from "vitest";
import { nameOf, QuestionNames } from "./question-names.ts";

const asks = (message: unknown, ...fields: string[]) => ({
  method: "elicitation/create",
  params: {
    message,
    requestedSchema: {
      type: "object",
      properties: Object.fromEntries(fields.map((name) => [name, { type: "string" }])),
    },
  },
});

test.each<[string, unknown, string]>([
  ["one field", asks("Which category?", "category"), "category"],
  ["no field", asks("Delete a.txt for good?"), "delete-a-txt-for-good"],
  ["several fields", asks("Who travels?", "name", "seats"), "who-travels"],
  ["words of other languages", asks("Größe wählen, 大小?"), "größe-wählen-大小"],
  ["many words", asks("a b c d e f g h i j k"), "a-b-c-d-e-f-g-h"],
  ["no words", asks("?!"), "question"],
  ["no message", asks(7), "question"],
  ["a field without a name", asks("Name?", ""), "name"],
  ["a field with a very long name", asks("Name?", "x".repeat(81)), "name"],
  [
    "a page",
    { method: "elicitation/create", params: { mode: "url", message: "Sign in", url: "https://a" } },
    "sign-in",
  ],
  ["a model", { method: "sampling/createMessage", params: {} }, "sampling"],
  ["roots", { method: "roots/list" }, "roots"],
])("%s", (_, request, name) => {
  expect(nameOf(request)).toBe(name);
});

test("a question that is asked again gets a number, and no two questions share a name", () => {
  const names = new QuestionNames();
  const given = ["size", "size", "size~2", "size", "colour"].map((name) => names.unique(name));
  expect(given).toEqual(["size", "size~2", "size~2~2", "size~3", "colour"]);
});
