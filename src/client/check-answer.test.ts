import { describe, expect, test } from "vitest";
import { answerTo } from "./check-answer.ts";
import { readQuestion } from "./read-question.ts";

const form = (properties: object, required: string[] = []) =>
  readQuestion("q", {
    method: "elicitation/create",
    params: { message: "?", requestedSchema: { type: "object", properties, required } },
  });
const accept = (content?: object) => ({ action: "accept", ...(content && { content }) });

describe("a form", () => {
  test("a form is filled in with its defaults [C43]", () => {
    const question = form({
      name: { type: "string", default: "Ada" },
      age: { type: "integer", default: 36 },
      sure: { type: "boolean" },
    });
    expect(answerTo(question, accept({ age: 40 }))).toEqual({
      action: "accept",
      content: { name: "Ada", age: 40 },
    });
  });

  test.each([
    ["a missing field", form({ name: { type: "string" } }, ["name"]), {}, '"name" is missing'],
    [
      "a number in a text field",
      form({ name: { type: "string" } }),
      { name: 1 },
      '"name" must be text',
    ],
    [
      "an unknown choice",
      form({ c: { type: "string", enum: ["a", "b"] } }),
      { c: "d" },
      '"c" must be one of "a", "b"',
    ],
    [
      "an object in a field",
      form({ name: { type: "string" } }),
      { name: {} },
      '"name" must be a string, a number, a boolean or a list of strings',
    ],
    ["content that is not an object", form({}), [1], "The content of a form must be an object"],
  ])("%s is refused", (_, question, content, message) => {
    expect(() => answerTo(question, { action: "accept", content })).toThrow(message);
  });

  test("a schema feature that this client does not know is left to the server to check", () => {
    const question = form({ a: { type: "colour" }, b: { type: "string", format: "zip" } });
    const content = { a: "red", b: "12", c: true };
    expect(answerTo(question, accept(content))).toEqual({ action: "accept", content });
  });

  test("decline and cancel carry no content", () => {
    const question = form({ name: { type: "string" } }, ["name"]);
    expect(answerTo(question, { action: "decline", content: { name: 1 } })).toEqual({
      action: "decline",
    });
    expect(() => answerTo(question, { action: "yes" })).toThrow("That is not an answer");
  });

  test('a field named "__proto__" is treated like any other', () => {
    const properties = JSON.parse('{"__proto__":{"type":"string"}}');
    const content = JSON.parse('{"__proto__":"x"}');
    expect(JSON.stringify(answerTo(form(properties, ["__proto__"]), accept(content)))).toBe(
      '{"action":"accept","content":{"__proto__":"x"}}',
    );
  });
});

test("accepting a page sends no content [C41]", () => {
  const params = { mode: "url", message: "?", url: "https://user@example.com:8443/x?y" };
  const question = readQuestion("q", { method: "elicitation/create", params });
  expect(question).toMatchObject({ kind: "url", host: "example.com:8443" });
  expect(answerTo(question, accept({ secret: "x" }))).toEqual({ action: "accept" });
});

test("roots must be file URLs [C48]", () => {
  const question = readQuestion("q", { method: "roots/list" });
  expect(() => answerTo(question, { roots: [{ uri: "https://example.com" }] })).toThrow(
    "That is not an answer",
  );
  expect(answerTo(question, { roots: [{ uri: "file:///a" }] })).toEqual({
    roots: [{ uri: "file:///a" }],
  });
});

test("sampling with tools is refused, because it was not declared [C47]", () => {
  const params = { messages: [], maxTokens: 1, tools: [] };
  expect(() => readQuestion("q", { method: "sampling/createMessage", params })).toThrow("tools");
});
