// All messages of the documents exist, and their mistakes are noted. draft.test.ts and final.test.ts check that each is
// played, or that there is a reason why not (plays.ts).

import { describe, expect, test } from "vitest";
import { printed } from "./golden.ts";
import { messagesIn } from "./printed.ts";
import { loosenings, slips } from "./slips.ts";

test("all sixty-three messages of the documents are present", () => {
  const count = (document: string) =>
    printed.filter(({ name }) => name.startsWith(`${document}.`)).length;
  expect(["000", "001", "002", "003", "004"].map(count)).toEqual([12, 31, 7, 13, 0]);
});

test("each note is about a message that exists", () => {
  const names = new Set(printed.map(({ name }) => name));
  const noted = [
    ...slips.map(({ message }) => message),
    ...loosenings.flatMap(({ messages }) => messages),
  ];
  expect(noted.filter((name) => !names.has(name))).toEqual([]);
});

test("a message that is not JSON is kept as it was printed", () => {
  for (const { mended, printed: text } of printed) {
    expect(text !== undefined).toBe(mended.length > 0);
    if (text !== undefined) expect(() => JSON.parse(text)).toThrow(SyntaxError);
  }
});

describe("extracting messages", () => {
  const first = (text: string) => messagesIn("x", text)[0];

  test("mends what is printed for readers, and records it", () => {
    const text = '# Of it\n```json\n{\n  "a": "// no ...", // yes\n  "b": [...],\n```\n';
    expect(first(text)).toMatchObject({
      name: "x.1",
      heading: "Of it",
      line: 3,
      message: { a: "// no ...", b: [] },
      mended: ["comments removed", "dots removed", "trailing comma removed", "closing brace added"],
    });
  });

  test("finds messages without fences, and adds braces around a member", () => {
    expect(first('1. Of it\n\n{\n  "a": 1\n}\n\nfunc f() {\n}\n')).toMatchObject({
      heading: "1. Of it",
      message: { a: 1 },
      mended: [],
    });
    expect(first('```json5\n"a": { "b": 1 }\n```')).toMatchObject({
      message: { a: { b: 1 } },
      mended: ["braces put around it"],
    });
  });

  test("does not assume that a message ends", () => {
    expect(() => messagesIn("x", '{\n  "a": 1\n')).toThrow("has no end");
  });
});
