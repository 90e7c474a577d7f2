// The messages of the documents: all are there, each is played, and what is wrong with them is noted.

import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { printed } from "./golden.ts";
import { messagesIn } from "./printed.ts";
import { slips } from "./slips.ts";

test("all sixty-three messages of the documents are there", () => {
  const count = (document: string) =>
    printed.filter(({ name }) => name.startsWith(`${document}.`)).length;
  expect(["000", "001", "002", "003", "004"].map(count)).toEqual([12, 31, 7, 13, 0]);
});

test("each is played in its final form, or shown to have none", () => {
  const source = readFileSync(new URL("./final.test.ts", import.meta.url), "utf8");
  expect(printed.filter(({ name }) => !source.includes(`"${name}"`))).toEqual([]);
});

/** Why a message is not played as it is printed. */
const notAsPrinted: Readonly<Record<string, string>> = {
  "000.2": "its status is a slip; 001.15 is the same message",
  "000.4": "its status is a slip; 001.17 is the same message",
  "000.9": "its status is a slip; 001.23 is the same message",
  "000.12": "an option that was weighed and rejected (F18)",
  "001.1": "001.5 is the same message",
  "001.2": "it is not whole; 001.6 is the same message",
  "002.1": "it is in the final form already, as all of 002",
  "002.2": "in the final form",
  "002.3": "in the final form",
  "002.4": "in the final form",
  "002.5": "in the final form",
  "002.6": "in the final form",
  "002.7": "in the final form",
  "003.2": "its degree sign is a slip",
  "003.6": "003.1 is the same message",
  "003.7": "an option that was weighed and rejected (F17)",
  "003.8": "an option that was weighed and rejected (F23)",
  "003.9": "an option that was weighed and rejected (F22)",
  "003.10": "an option that was weighed and rejected (F23)",
  "003.11": "a response nobody has asked for, as 000.7, which is refused (F21)",
  "003.12": "streaming is a later issue (F24)",
  "003.13": "streaming is a later issue (F24)",
};

test("each is played as it is printed, or it is said why not", () => {
  const source = readFileSync(new URL("./draft.test.ts", import.meta.url), "utf8");
  const unplayed = printed.map(({ name }) => name).filter((name) => !source.includes(`"${name}"`));
  expect(unplayed).toEqual(Object.keys(notAsPrinted));
});

test("a note on a slip is about a message that is there", () => {
  const names = new Set(printed.map(({ name }) => name));
  expect(slips.filter(({ message }) => !names.has(message))).toEqual([]);
});

test("what is not JSON is kept as it was printed", () => {
  for (const { mended, printed: text } of printed) {
    expect(text !== undefined).toBe(mended.length > 0);
    if (text !== undefined) expect(() => JSON.parse(text)).toThrow(SyntaxError);
  }
});

describe("taking them out", () => {
  const first = (text: string) => messagesIn("x", text)[0];

  test("mends what is printed for people, and says so", () => {
    const text = '# Of it\n```json\n{\n  "a": "// no ...", // yes\n  "b": [...],\n```\n';
    expect(first(text)).toMatchObject({
      name: "x.1",
      heading: "Of it",
      line: 3,
      message: { a: "// no ...", b: [] },
      mended: ["comments removed", "dots removed", "trailing comma removed", "closing brace added"],
    });
  });

  test("finds messages without fences, and puts braces around a member", () => {
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

  test("does not take an end for granted", () => {
    expect(() => messagesIn("x", '{\n  "a": 1\n')).toThrow("has no end");
  });
});
