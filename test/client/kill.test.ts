// Kills the client (`kill -9`) at each event, and starts a new process with the same journal.

import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { memoryStore, parley } from "mcp-parley";
import type { App } from "mcp-parley";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { keys, quiet } from "../interop/errands.ts";
import { startProgram } from "../programs.ts";

const done: string[] = [];
let app: App;
let url: string;

beforeAll(async () => {
  const did = (what: string) => void done.push(what);
  app = parley({ name: "mortals", version: "1.0.0", keys, logger: quiet, store: memoryStore() });
  app.tool("three_questions", { description: "In rounds", once: true }, async (ctx) => {
    await ctx.step("first", () => did("first"));
    const a = await ctx.ask("a", "A?");
    await ctx.step("second", () => did("second"));
    const b = await ctx.ask("b", "B?");
    await ctx.step("third", () => did("third"));
    const c = await ctx.ask("c", "C?");
    await ctx.step("fourth", () => did("fourth"));
    return a + b + c;
  });
  app.tool("two_in_a_task", { description: "In a task", task: "required" }, async (ctx) => {
    await ctx.background();
    await ctx.step("first", () => did("first"));
    const a = await ctx.ask("a", "A?");
    await ctx.step("second", () => did("second"));
    const b = await ctx.ask("b", "B?");
    await ctx.step("third", () => did("third"));
    return a + b;
  });
  ({ url } = await app.listen(0));
});

afterAll(() => app.close());

/** What a process recorded until it ended. */
async function live(env: Record<string, string>): Promise<boolean> {
  let isAtEnd = false;
  for await (const line of startProgram("test/client/mortal-client.ts", env).lines)
    isAtEnd ||= line === "end";
  return isAtEnd;
}

interface Story {
  /** What both processes recorded. */
  readonly ledger: readonly string[];
  readonly left: readonly string[];
}

async function story(tool: string, diesAt: number): Promise<Story> {
  const folder = mkdtempSync(join(tmpdir(), "parley-mortal-"));
  const JOURNAL = join(folder, "journal");
  const LEDGER = join(folder, "ledger");
  const env = { URL_OF_SERVER: url, JOURNAL, LEDGER, TOOL: tool };
  done.length = 0;
  try {
    expect(await live({ ...env, DIES_AT: String(diesAt) })).toBe(false);
    const before = readFileSync(LEDGER, "utf8").trim().split("\n");
    expect(await live(env)).toBe(true);
    // A write that was cut off may leave a draft behind.
    expect(readdirSync(JOURNAL).filter((name) => name.endsWith(".call"))).toEqual([]);
    const ledger = readFileSync(LEDGER, "utf8").trim().split("\n");
    return { ledger, left: before };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const asks = ({ ledger }: Story, key: string) =>
  ledger.filter((line) => line === `asked ${key}`).length;
const wasAnswered = ({ left }: Story, key: string) => left.includes(`answered ${key}`);

describe("a call of three questions", () => {
  test.each([
    [1, "asked a"],
    [2, "answered a"],
    [3, "asked b"],
    [4, "answered b"],
    [5, "asked c"],
    [6, "answered c"],
    [7, "done ABC"],
  ])("is resumed when the client is killed at event %i: %s [C83]", async (diesAt, last) => {
    const told = await story("three_questions", diesAt);
    expect(told.left.at(-1)).toBe(last);
    expect(told.ledger.at(-1)).toBe("done ABC");
    expect(done).toEqual(["first", "second", "third", "fourth"]);
    for (const key of ["a", "b", "c"]) {
      expect(asks(told, key)).toBe(told.left.at(-1) === `asked ${key}` ? 2 : 1);
      if (wasAnswered(told, key)) expect(asks(told, key)).toBe(1);
    }
  });
});

describe("a task of two questions", () => {
  test.each([
    [1, "task"],
    [2, "asked a"],
    [3, "answered a"],
    [4, "asked b"],
    [5, "answered b"],
    [6, "done AB"],
  ])("is resumed when the client is killed at event %i: %s [C83]", async (diesAt, last) => {
    const told = await story("two_in_a_task", diesAt);
    expect(told.left.at(-1)).toBe(last);
    expect(told.ledger.at(-1)).toBe("done AB");
    expect(done).toEqual(["first", "second", "third"]);
    for (const key of ["a", "b"]) {
      expect(asks(told, key)).toBe(told.left.at(-1) === `asked ${key}` ? 2 : 1);
    }
  });
});
