import { describe, expect, test } from "vitest";
import { typedArguments } from "./typed-arguments.ts";

const schema = {
  type: "object",
  properties: {
    name: { type: "string" },
    count: { type: "integer" },
    share: { type: "number" },
    isFast: { type: "boolean" },
    tags: { type: "array", items: { type: "string" } },
    sizes: { type: "array", items: { type: "integer" } },
    size: { enum: ["S", "M"] },
    level: { enum: [1, 2] },
    where: { type: "object" },
    any: {},
  },
};

describe("a word becomes a value of the type in the schema", () => {
  test.each([
    ["name=", { name: "" }],
    ["name=12", { name: "12" }],
    ["name=a=b", { name: "a=b" }],
    ["count=-3", { count: -3 }],
    ["share=1e2", { share: 100 }],
    ["isFast=TRUE", { isFast: true }],
    ["isFast=no", { isFast: false }],
    ["tags=a, b", { tags: ["a", "b"] }],
    ['tags=["a,b"]', { tags: ["a,b"] }],
    ["tags=", { tags: [] }],
    ["sizes=1,2", { sizes: [1, 2] }],
    ["size=M", { size: "M" }],
    ["level=2", { level: 2 }],
    ['where={"x":1}', { where: { x: 1 } }],
    ["any=12", { any: 12 }],
    ["any=twelve", { any: "twelve" }],
    ["name:=12", { name: 12 }],
    ['other:={"x":[1]}', { other: { x: [1] } }],
  ])("%s", (word, args) => {
    expect(typedArguments([word], schema)).toEqual(args);
  });

  test("a list can be given item by item, and words override the file", () => {
    const base = { tags: ["file"], name: "file" };
    expect(typedArguments(["tags=a", "tags=b"], schema, base)).toEqual({
      tags: ["a", "b"],
      name: "file",
    });
  });

  test("an argument that the schema does not name follows additionalProperties", () => {
    const open = { type: "object", additionalProperties: { type: "integer" } };
    expect(typedArguments(["a=1"], open)).toEqual({ a: 1 });
    expect(typedArguments(["a=x"], { additionalProperties: true })).toEqual({ a: "x" });
  });
});

describe("a value that does not fit is named, with what would fit", () => {
  test.each([
    ["count=1.5", `count must be a whole number, not "1.5".`],
    ["count=", `count must be a whole number, not "".`],
    ["share=x", `share must be a number, not "x".`],
    ["isFast=maybe", `isFast must be true or false, not "maybe".`],
    ["sizes=1,x", `sizes must be a list (a,b,c) of a whole number, not "1,x".`],
    ["size=XL", `size must be one of "S", "M", not "XL".`],
    ["where=x", `where must be a JSON object, not "x".`],
    ["nmae=x", `The tool has no argument "nmae". Did you mean "name"?`],
    ["name:=x", "The value after name:= is not JSON: x"],
    ["=x", `"=x" is not an argument. Write name=value or name:=json.`],
  ])("%s", (word, sentence) => {
    expect(() => typedArguments([word], schema)).toThrow(sentence);
  });

  test("what is missing", () => {
    const needy = { ...schema, required: ["count"] };
    expect(() => typedArguments([], needy)).toThrow(
      "The tool needs count (a whole number). Add count=…",
    );
    expect(() => typedArguments(["x=1"], {})).toThrow(
      `The tool has no argument "x". It takes no arguments.`,
    );
  });
});
