import { writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { describe, expect, test } from "vitest";
import { emptyFolder } from "../folder.fixture.ts";
import { commandFor } from "./server-file.ts";
import { parseTarget } from "./target.ts";

describe("target", () => {
  test("a URL, a command, a file", () => {
    const folder = emptyFolder();
    const file = join(folder, "server.mjs");
    writeFileSync(file, "");
    const cwd = process.cwd();
    expect(parseTarget("http://x.example/mcp?k=1", [])).toEqual({
      kind: "url",
      url: "http://x.example/mcp?k=1",
    });
    expect(parseTarget("localhost:3000/mcp", [])).toEqual({
      kind: "url",
      url: "http://localhost:3000/mcp",
    });
    expect(parseTarget(undefined, ["node", "x"])).toEqual({
      kind: "command",
      command: "node",
      args: ["x"],
      cwd,
    });
    expect(parseTarget(`node "a b.js" --x='1 2'`, [])).toMatchObject({
      command: "node",
      args: ["a b.js", "--x='1", "2'"],
    });
    expect(parseTarget(file, [])).toEqual({ kind: "file", file, cwd });
    expect(() => parseTarget("nothing", [])).toThrow(`"nothing" is not a URL or a server file`);
    expect(() => parseTarget(undefined, [])).toThrow("No server was given.");
    expect(() => parseTarget("http://[", [])).toThrow('"http://[" is not a valid URL.');
    expect(() => parseTarget("none.mjs", [])).toThrow(
      `The file ${join(cwd, "none.mjs")} does not exist.`,
    );
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
    expect(() => commandFor(join(folder, "c.txt"))).toThrow("is not a server file");
  });
});
