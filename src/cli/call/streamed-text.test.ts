// What the command prints from a stream: each text once, whatever the server takes back, and nothing that moves the
// cursor.

import { expect, test } from "vitest";
import { StreamedBlocks } from "../../protocol/streamed-blocks.ts";
import { Printer } from "../screen/printer.ts";
import { StreamedText } from "./streamed-text.ts";

function printed() {
  const out: string[] = [];
  const err: string[] = [];
  const printer = new Printer({
    write: (text) => void err.push(text),
    writeResult: (text) => void out.push(text),
    isTerminal: false,
    columns: 80,
  });
  const streamed = new StreamedText(printer);
  const blocks = new StreamedBlocks(1_000_000, (read) => {
    const part = read();
    if (part !== undefined) streamed.take(part);
  });
  const say = (block: string, text: string, op: "append" | "replace" = "append") =>
    blocks.take({ block, op, content: [{ type: "text", text }] });
  const all = (result: string) => out.join("") + streamed.rest(result);
  return { blocks, say, all, streamed, out, err, printer };
}

test.each([
  ["Hello", "Hello\n"],
  ["Hello\n\nSources", "Hello\n\nSources\n"],
  ["Something else", "Hello\nSomething else\n"],
])("the result %j after the stream Hello", (result, shown) => {
  const { say, all } = printed();
  say("a", "Hel");
  say("a", "lo");
  expect(all(result)).toBe(shown);
});

test("without a stream, the result is printed whole", () => {
  expect(printed().all("Hello")).toBe("Hello\n");
});

test("sequences that are split over two parts are removed as in the result", () => {
  const { say, all } = printed();
  for (const text of ["a\u001B", "[31", "mb\r", "\nc\u001B]0;ti", "tle\u0007d\uD83C", "\uDF89"]) {
    say("a", text);
  }
  expect(all("ab\ncd🎉")).toBe("ab\ncd🎉\n");
});

test("text that the server sends again after a broken connection is not printed again", () => {
  const { blocks, say, all, err } = printed();
  say("a", "Hello, ");
  blocks.drop();
  say("a", "Hel");
  say("a", "lo, wor");
  say("a", "ld");
  expect(all("Hello, world")).toBe("Hello, world\n");
  expect(err).toEqual([]);
});

test("if the server sends something else, a line says so, and the result is printed whole", () => {
  const { blocks, say, all, err } = printed();
  say("a", "Hello");
  blocks.drop();
  say("a", "Good bye");
  expect(all("Good bye")).toBe("Hello\nGood bye\nGood bye\n");
  expect(err.join("")).toContain('The server begins "a" again.');
});

test("blocks begin on lines of their own, and an image is named", () => {
  const { blocks, say, all } = printed();
  say("a", "one");
  say("b", "two");
  blocks.take({ block: "c", content: [{ type: "image", data: "AAAA", mimeType: "image/png" }] });
  expect(all("one\ntwo\n[image, image/png, 3 bytes]")).toBe(
    "one\ntwo\n[image, image/png, 3 bytes]\n",
  );
});

test("a call without a result ends its line", () => {
  const { say, streamed } = printed();
  expect(streamed.end()).toBe("");
  say("a", "Hello");
  expect(streamed.end()).toBe("\n");
});

test("text waits while a question has the screen", async () => {
  const { say, out, printer } = printed();
  await printer.quiet(async () => {
    say("a", "Hello");
    expect(out).toEqual([]);
  });
  expect(out).toEqual(["Hello"]);
});
