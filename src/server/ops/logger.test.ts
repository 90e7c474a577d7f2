// What the log makes of texts that a client has chosen.

import process from "node:process";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { z } from "zod";
import { parley } from "../parley.ts";
import { registeredAs } from "../define/handles.ts";
import { serveRound } from "../round/round.ts";
import { jsonLogger, stderrLogger } from "./logger.ts";

const nasty = "a\nparley info: forged\r\u001B[2J\u009B1m\u202Ebackwards\u2028\u0000\u007F\tb";

function written(): string[] {
  const lines: string[] = [];
  const spy = vi.spyOn(process.stderr, "write").mockImplementation((text) => {
    lines.push(String(text));
    return true;
  });
  onTestFinished(() => spy.mockRestore());
  return lines;
}

// oxlint-disable-next-line no-control-regex -- these are what must not be there
const controls = /[\u0000-\u0008\u000B-\u001F\u007F-\u009F\u2028-\u202E]/;

test("the default logger escapes control characters, in the message and in the fields", () => {
  const lines = written();
  stderrLogger.error(nasty, { name: nasty });
  const text = lines.join("");
  expect(text).not.toMatch(controls);
  expect(text.split("\n")).toEqual([
    "parley error: a",
    String.raw`  parley info: forged\u000d\u001b[2J\u009b1m\u202ebackwards\u2028\u0000\u007f	b {"name":"a\nparley info: forged\r\u001b[2J\u009b1m\u202ebackwards\u2028\u0000\u007f\tb"}`,
    "",
  ]);
});

test("fields that are not JSON do not keep a line out of the log", () => {
  const lines = written();
  stderrLogger.warn("odd", { n: 1n });
  expect(lines.join("")).toBe('parley warn: odd "The fields are not JSON."\n');
});

test("what a client sends cannot forge a line, with the default logger and with console", async () => {
  for (const given of [{}, { logger: console }]) {
    const lines = written();
    const noted: string[] = [];
    const error = vi.spyOn(console, "error").mockImplementation((text) => void noted.push(text));
    onTestFinished(() => error.mockRestore());
    const app = parley({ name: "logged", version: "1.0.0", ...given });
    const inputSchema = z.object({ user: z.string() });
    const tool = app.tool("greet", { inputSchema }, ({ user }) => {
      throw new Error(`There is no user ${user}`);
    });
    const { core, definition } = registeredAs(tool);
    await serveRound(core, definition, {
      target: "greet",
      arguments: { user: nasty },
      capabilities: {},
      principal: undefined,
      facts: { meta: {} },
    });
    const text = [...lines, ...noted].join("");
    expect(text).toContain("There is no user a");
    expect(text).not.toMatch(controls);
    expect(text).not.toMatch(/^parley info/m);
  }
});

describe('logger: "json"', () => {
  test("writes one object a line: its own members first, then the fields", () => {
    const lines = written();
    jsonLogger.error("out of paper", { handler: "print", task: "6f0a1b…", call: "c1", tray: 2 });
    jsonLogger.info("listening");
    jsonLogger.debug("not written");
    expect(lines).toHaveLength(2);
    const [first, second] = lines.map((line): Record<string, unknown> => JSON.parse(line));
    const order = "at level message call task handler tray";
    expect(Object.keys(first ?? {}).join(" ")).toBe(order);
    expect(first).toMatchObject({ level: "error", message: "out of paper", call: "c1", tray: 2 });
    expect(new Date(String(first?.["at"])).toISOString()).toBe(first?.["at"]);
    expect(Object.keys(second ?? {})).toEqual(["at", "level", "message"]);
  });

  test("escapes control characters, and gives back what was logged", () => {
    const lines = written();
    jsonLogger.warn(nasty, { name: nasty });
    expect(lines.join("")).not.toMatch(controls);
    expect(lines.join("").split("\n")).toHaveLength(2);
    expect(JSON.parse(lines.join(""))).toMatchObject({ message: nasty, name: nasty });
  });

  test("a field cannot replace the level, the message or the time", () => {
    const lines = written();
    jsonLogger.warn("real", { message: "forged", level: "info", at: 0 });
    expect(JSON.parse(lines.join(""))).toMatchObject({ message: "real", level: "warn" });
    expect(lines.join("")).not.toContain("forged");
  });

  test("fields that are not JSON do not keep a line out of the log", () => {
    const lines = written();
    jsonLogger.warn("odd", { n: 1n, call: "c1" });
    const expected = { message: "odd", call: "c1", fields: "The fields are not JSON." };
    expect(JSON.parse(lines.join(""))).toMatchObject(expected);
  });

  test("is a choice of parley(), which refuses any other word", async () => {
    const lines = written();
    const app = parley({ name: "logged", version: "1.0.0", logger: "json" });
    const tool = app.tool("fail", {}, () => {
      throw new Error("out of paper");
    });
    const { core, definition } = registeredAs(tool);
    await serveRound(core, definition, {
      target: "fail",
      arguments: {},
      capabilities: {},
      principal: undefined,
      facts: { meta: {} },
    });
    expect(lines.map((line): unknown => JSON.parse(line))).toEqual([
      expect.objectContaining({
        level: "error",
        message: '"fail" failed: out of paper',
        call: expect.stringMatching(/^[\da-f]{32}$/) as string,
        handler: "fail",
      }),
    ]);
    expect(() => parley({ name: "logged", version: "1.0.0", logger: "pretty" as "json" })).toThrow(
      new TypeError(
        'logger: "pretty" is not known. Pass "json", or an object with debug, info, warn and error.',
      ),
    );
  });
});
