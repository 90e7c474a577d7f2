// What the command prints: text from a server, amounts and colours, all through one printer.

import { describe, expect, test } from "vitest";
import { ago, counted, duration, readDuration, size } from "./amounts.ts";
import { plain, plainJson, plainLine, plainText, someOf } from "./plain.ts";
import { hasColour, hasUnicode } from "./style.ts";
import { fitting, Printer, widthOf, wrapped } from "./printer.ts";

describe("plain", () => {
  test.each([
    ["\u001B[2J\u001B[1;31mred\u001B[0m", "red"],
    ["\u001B]0;title\u0007text", "text"],
    ["\u001B]8;;https://evil.example\u001B\\link\u001B]8;;\u001B\\", "link"],
    ["a\rb\u0008c\u0000d\u007F", "abcd"],
    ["\u009B31mred", "red"],
    ["user\u202Egpj.exe", "usergpj.exe"],
    ["zero\u200Bwidth\uFEFF", "zerowidth"],
    ["a\u061Cb\u00ADc\u{E0041}d\uFFF9e", "abcde"],
    ["two\r\nlines\tand a tab", "two\nlines\tand a tab"],
    ["é 漢 🎉", "é 漢 🎉"],
  ])("%j", (sent, shown) => expect(plain(sent)).toBe(shown));

  test("a line, and JSON", () => {
    expect(plainLine(" a\n\n b ", 10)).toBe("a b");
    expect(plainLine("abcdefghij", 5)).toBe("abcd…");
    expect(plainJson({ a: "\u009B1m\u202E\u001B" })).toBe(String.raw`{"a":"\u009b1m\u202e\u001b"}`);
    expect(JSON.parse(plainJson({ a: "\u009B\u202E" }))).toEqual({ a: "\u009B\u202E" });
  });

  test("long text is cut", () => {
    expect(plainText("abcdef", 4)).toBe("abcd… (2 more characters)");
    expect(someOf(["a\n", "b", "c"], 2)).toBe("a, b and 1 more");
    expect(plainJson("\u{E0041}")).toBe(String.raw`"\udb40\udc41"`);
  });

  test("takes linear time, whatever a server sends", () => {
    const long = "\u001B]".repeat(50_000) + "\u001B[".repeat(50_000);
    const since = performance.now();
    plain(long);
    expect(performance.now() - since).toBeLessThan(5_000);
  });
});

test("amounts", () => {
  expect(ago(1_000, 3_000)).toBe("2.0 s ago");
  expect(ago(3_000, 1_000)).toBe("0 ms ago");
  expect(readDuration("7d")).toBe(604_800_000);
  expect([0, 999, 1_000, 59_949, 61_000, 3_661_000, 200_000_000].map((ms) => duration(ms))).toEqual(
    ["0 ms", "999 ms", "1.0 s", "59.9 s", "1 min 1 s", "1 h 1 min", "2 days"],
  );
  expect([0, 9_999, 10_000, 20_000_000].map((bytes) => size(bytes))).toEqual([
    "0 B",
    "9999 B",
    "10 kB",
    "20 MB",
  ]);
  expect(["30", "30s", "500ms", "1.5m", "2h", "x", "-1"].map((text) => readDuration(text))).toEqual(
    [30_000, 30_000, 500, 90_000, 7_200_000, undefined, undefined],
  );
  expect([counted(1, "round"), counted(2, "round")]).toEqual(["1 round", "2 rounds"]);
});

test("colour and signs", () => {
  expect(hasColour({}, true)).toBe(true);
  expect(hasColour({}, false)).toBe(false);
  expect(hasColour({ NO_COLOR: "1", FORCE_COLOR: "1" }, true)).toBe(false);
  expect(hasColour({ NO_COLOR: "" }, true)).toBe(true);
  expect(hasColour({ FORCE_COLOR: "1" }, false)).toBe(true);
  expect(hasColour({ FORCE_COLOR: "0" }, true)).toBe(false);
  expect(hasColour({ TERM: "dumb" }, true)).toBe(false);
  expect([hasUnicode({}), hasUnicode({ TERM: "dumb" })]).toEqual([true, false]);
});

describe("the printer", () => {
  function spoken(isTerminal: boolean) {
    let said = "";
    const write = (text: string) => {
      said += text;
    };
    return { printer: new Printer({ write, isTerminal, columns: 20 }), said: () => said };
  }

  test("overwrites a line in a terminal, and prints each text on a line of its own elsewhere", () => {
    const { printer, said } = spoken(true);
    printer.live("1/2");
    printer.live("2/2");
    printer.line("done");
    printer.settle();
    expect(said()).toBe("1/2\r\u001B[K2/2\r\u001B[Kdone\n2/2\n");
    const file = spoken(false);
    file.printer.live("1/2");
    file.printer.live("2/2");
    file.printer.settle();
    expect(file.said()).toBe("1/2\n2/2\n");
  });

  test.each([true, false])("shows only a few of endless updates (terminal: %s)", (isTerminal) => {
    const { printer, said } = spoken(isTerminal);
    for (let done = 1; done <= 100_000; done += 1) printer.live(`${done}/100000 `);
    printer.settle();
    expect(said().match(/\/100000 /g)?.length).toBeLessThan(500);
    expect(said()).toMatch(/100000\/100000 \n$/);
  });

  test("leaves the screen to a prompt", async () => {
    const { printer, said } = spoken(true);
    await printer.quiet(async (say) => {
      printer.live("working");
      printer.line("later");
      say("question");
    });
    expect(said()).toBe("question\nlater\n");
  });

  test("text that does not fit is cut", () => {
    expect(fitting("a long message of a server", 20, 5)).toBe("a long messag…");
    expect(fitting("漢字漢字漢字漢字漢字", 20, 4)).toBe("漢字漢字漢字漢…");
    expect(widthOf("漢a")).toBe(3);
  });
});

test("wrapped", () => {
  expect(wrapped("   one two three four five six", 24)).toEqual([
    "   one two three four",
    "   five six",
  ]);
  expect(wrapped("x".repeat(50), 24)).toEqual(["x".repeat(50)]);
  expect(wrapped("", 24)).toEqual([""]);
});
