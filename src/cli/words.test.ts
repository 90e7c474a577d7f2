// The small things: what is printed, what is read, what is meant.

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { describe, expect, onTestFinished, test } from "vitest";
import { referenceTo } from "../client/reference.ts";
import { counted, duration, readDuration, size } from "./amounts.ts";
import { readReference, referenceAt, shortId } from "./call-reference.ts";
import { Calls, JournalError, unfinished } from "./calls.ts";
import { GivenAnswers } from "./given-answers.ts";
import { nearest } from "./nearest.ts";
import { placeFrom } from "./place.ts";
import { plain, plainJson, plainLine } from "./plain.ts";
import { commandFor } from "./server-file.ts";
import { hasColour, hasUnicode } from "./style.ts";
import { fitting, Talk, widthOf } from "./talk.ts";

function emptyFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "parley-words-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

describe("plain", () => {
  test.each([
    ["\u001B[2J\u001B[1;31mred\u001B[0m", "red"],
    ["\u001B]0;title\u0007text", "text"],
    ["\u001B]8;;https://evil.example\u001B\\link\u001B]8;;\u001B\\", "link"],
    ["a\rb\u0008c\u0000d\u007F", "abcd"],
    ["\u009B31mred", "red"],
    ["user\u202Egpj.exe", "usergpj.exe"],
    ["zero\u200Bwidth\uFEFF", "zerowidth"],
    ["two\r\nlines\tand a tab", "two\nlines\tand a tab"],
    ["é 漢 🎉", "é 漢 🎉"],
  ])("%j", (sent, shown) => expect(plain(sent)).toBe(shown));

  test("a line, and JSON", () => {
    expect(plainLine(" a\n\n b ", 10)).toBe("a b");
    expect(plainLine("abcdefghij", 5)).toBe("abcd…");
    expect(plainJson({ a: "\u009B1m\u202E\u001B" })).toBe(String.raw`{"a":"\u009b1m\u202e\u001b"}`);
    expect(JSON.parse(plainJson({ a: "\u009B\u202E" }))).toEqual({ a: "\u009B\u202E" });
  });

  test("is linear in what a stranger sends", () => {
    const long = "\u001B]".repeat(50_000) + "\u001B[".repeat(50_000);
    const since = performance.now();
    plain(long);
    expect(performance.now() - since).toBeLessThan(5_000);
  });
});

test("amounts", () => {
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

test("nearest", () => {
  expect(nearest("resovle", ["resolve", "remove"])).toBe(`. Did you mean "resolve"?`);
  expect(nearest("x", ["resolve"])).toBe(".");
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

describe("talk", () => {
  function spoken(isTerminal: boolean) {
    let said = "";
    const write = (text: string) => {
      said += text;
    };
    return { talk: new Talk({ write, isTerminal, columns: 20 }), said: () => said };
  }

  test("a line in place is taken back, and left alone elsewhere", () => {
    const { talk, said } = spoken(true);
    talk.live("1/2");
    talk.live("2/2");
    talk.line("done");
    talk.settle();
    expect(said()).toBe("1/2\r\u001B[K2/2\r\u001B[Kdone\n2/2\n");
    const file = spoken(false);
    file.talk.live("1/2");
    file.talk.live("2/2");
    file.talk.settle();
    expect(file.said()).toBe("1/2\n2/2\n");
  });

  test("a prompt has the screen to itself", async () => {
    const { talk, said } = spoken(true);
    await talk.quiet(async (say) => {
      talk.live("working");
      talk.line("later");
      say("question");
    });
    expect(said()).toBe("question\nlater\n");
  });

  test("what does not fit is cut", () => {
    expect(fitting("a long message of a server", 20, 5)).toBe("a long messag…");
    expect(fitting("漢字漢字漢字漢字漢字", 20, 4)).toBe("漢字漢字漢字漢…");
    expect(widthOf("漢a")).toBe(3);
  });
});

describe("place", () => {
  test("a URL, a command, a file", () => {
    const folder = emptyFolder();
    const file = join(folder, "server.mjs");
    writeFileSync(file, "");
    const cwd = process.cwd();
    expect(placeFrom("http://x.example/mcp?k=1", [])).toEqual({
      kind: "url",
      url: "http://x.example/mcp?k=1",
    });
    expect(placeFrom("localhost:3000/mcp", [])).toEqual({
      kind: "url",
      url: "http://localhost:3000/mcp",
    });
    expect(placeFrom(undefined, ["node", "x"])).toEqual({
      kind: "command",
      command: "node",
      args: ["x"],
      cwd,
    });
    expect(placeFrom(`node "a b.js" --x='1 2'`, [])).toMatchObject({
      command: "node",
      args: ["a b.js", "--x='1", "2'"],
    });
    expect(placeFrom(file, [])).toEqual({ kind: "file", file, cwd });
    expect(() => placeFrom("nothing", [])).toThrow(`"nothing" is no URL and no server file`);
    expect(() => placeFrom(undefined, [])).toThrow("Which server?");
    expect(() => placeFrom("http://[", [])).toThrow("http://[ is no URL.");
    expect(() => placeFrom("none.mjs", [])).toThrow("There is no file");
  });

  test("what runs a file", () => {
    const folder = emptyFolder();
    for (const name of ["a.js", "b.ts", "c.txt"]) writeFileSync(join(folder, name), "");
    expect(commandFor(join(folder, "a.js"))).toEqual({
      command: process.execPath,
      args: [join(folder, "a.js")],
    });
    expect(commandFor(join(folder, "b.ts")).args).toEqual([
      "--import",
      expect.stringMatching(/^file:.*tsx/),
      join(folder, "b.ts"),
    ]);
    expect(() => commandFor(join(folder, "c.txt"))).toThrow("is no server file");
  });
});

const state = {
  id: "0badcafe-0000-4000-8000-000000000000",
  target: "http://x.example/mcp",
  since: 1,
  method: "tools/call" as const,
  name: "t",
  rounds: 1,
  stateRounds: 0,
  questions: new Map(),
  answers: new Map(),
  isLegacy: false,
};

describe("references", () => {
  test("say where, without what is secret there", () => {
    const text = referenceAt(
      { kind: "url", url: "https://u:p@x.example/mcp?key=1" },
      referenceTo(state),
    );
    const read = readReference(text);
    expect(read.place).toEqual({ kind: "url", url: "https://x.example/mcp" });
    expect(shortId(read.state)).toBe("0badcafe");
    expect(readReference(referenceTo(state)).place).toEqual({
      kind: "url",
      url: "http://x.example/mcp",
    });
    expect(readReference(referenceTo({ ...state, target: "stdio node x" })).place).toBeUndefined();
  });

  test.each(["", "at1.", "at1.e30.parley1.e30", "parley1.x", "at1.e30", "at2.x.y"])(
    "%j is none",
    (text) => {
      expect(() => readReference(text)).toThrow("That is no reference to a call");
    },
  );

  test("a place that somebody has made up is none", () => {
    const ref = referenceTo(state);
    for (const place of [
      {},
      { kind: "file", file: 1, cwd: "/" },
      { kind: "url", url: "x" },
      { kind: "command", command: "x", args: [1], cwd: "/" },
    ]) {
      const where = Buffer.from(JSON.stringify(place)).toString("base64url");
      expect(() => readReference(`at1.${where}.${ref}`)).toThrow("That is no reference to a call");
    }
  });
});

describe("the journal", () => {
  test("keeps the newest, and warns once where it cannot any more", async () => {
    const folder = join(emptyFolder(), "calls");
    const warnings: string[] = [];
    const calls = new Calls({ kind: "url", url: state.target }, folder, (text) =>
      warnings.push(text),
    );
    await calls.put(state.id, referenceTo(state));
    expect(calls.kept).toBe(`0badcafe --journal ${folder}`);
    expect(await unfinished(folder)).toMatchObject([{ state: { name: "t" } }]);
    rmSync(folder, { recursive: true });
    writeFileSync(folder, "");
    await calls.put(state.id, referenceTo({ ...state, rounds: 2 }));
    await calls.put(state.id, referenceTo({ ...state, rounds: 3 }));
    expect(warnings).toEqual([expect.stringContaining("can no longer be kept")]);
    expect(calls.kept).toBeUndefined();
    expect(readReference(calls.last ?? "").state.rounds).toBe(3);
  });

  test("refuses to begin what it cannot keep", async () => {
    const file = join(emptyFolder(), "file");
    writeFileSync(file, "");
    const calls = new Calls({ kind: "url", url: state.target }, file, () => {});
    await expect(calls.put(state.id, referenceTo(state))).rejects.toBeInstanceOf(JournalError);
  });
});

describe("answers given beforehand", () => {
  const form = (properties: object) =>
    ({
      kind: "form",
      key: "size",
      message: "?",
      schema: { type: "object", properties, required: [] },
    }) as never;
  const one = form({ size: { type: "string" } });

  test("the only field, a form's content, a whole answer", () => {
    expect(new GivenAnswers(undefined, ["size=L"]).for(one)).toEqual({
      action: "accept",
      content: { size: "L" },
    });
    expect(new GivenAnswers(undefined, ['size={"size":"L"}']).for(one)).toEqual({
      action: "accept",
      content: { size: "L" },
    });
    expect(new GivenAnswers(undefined, ['size={"action":"decline"}']).for(one)).toEqual({
      action: "decline",
    });
    expect(() => new GivenAnswers(undefined, ["size=5"]).for(one)).toThrow(`"size" should be text`);
    expect(() => new GivenAnswers(undefined, ["size"])).toThrow("--answer takes key=json");
  });

  test("pages and models", () => {
    const page = {
      kind: "url",
      key: "k",
      message: "",
      url: "",
      host: "",
      isPunycode: false,
    } as const;
    expect(new GivenAnswers(undefined, ["k=true"]).for(page)).toEqual({ action: "accept" });
    expect(new GivenAnswers(undefined, ["k=no"]).for(page)).toEqual({ action: "decline" });
    const params = { messages: [], maxTokens: 1 };
    const model = { kind: "sampling" as const, key: "k", params };
    expect(new GivenAnswers(undefined, ["k=hi"]).for(model)).toMatchObject({
      role: "assistant",
      content: { text: "hi" },
    });
  });

  test("one that did not do is not given again, under no key", () => {
    const given = new GivenAnswers(undefined, ["size=L"]);
    expect(given.unused).toEqual(["size"]);
    expect(given.for(one)).toBeDefined();
    expect(given.for(one)).toBeUndefined();
    expect(given.for({ ...(one as object), key: "size~2" } as never)).toBeUndefined();
    expect(given.unused).toEqual([]);
  });
});
