import { writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { describe, expect, test } from "vitest";
import { emptyFolder } from "../folder.fixture.ts";
import { commandFor } from "./file.ts";
import { placeFrom } from "./place.ts";

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
