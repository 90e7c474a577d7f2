// Accounts at other services in the test kit.

import { parley } from "mcp-parley";
import { oauth } from "mcp-parley/oauth";
import { expect, test } from "vitest";
import { cancelled, play, timedOut } from "./index.ts";

const github = oauth({ name: "github", issuer: "https://id.example", clientId: "id" });

function tools(relay = false) {
  const app = parley({ name: "stars", version: "1.0.0", connections: [github], relay });
  const handler = { description: "Says the length of the token" };
  const length = app.tool("length", handler, async (ctx) => {
    const account = await ctx.connect(github, { timeoutMs: 60_000 });
    return ctx.step("use", async () => String((await account.accessToken()).length));
  });
  const later = app.tool("later", { ...handler, task: "required" }, async (ctx) => {
    await ctx.background();
    const account = await ctx.connect(github);
    return ctx.step("use", async () => String((await account.accessToken()).length));
  });
  const leak = app.tool("leak", {}, async (ctx) => {
    const account = await ctx.connect(github);
    return ctx.step("use", () => account.accessToken());
  });
  return { length, later, leak };
}

const accounts = { github: "12345" };

test("a token from the options is used without a question, in rounds and in a task", async () => {
  const { length, later } = tools();
  for (const tool of [length, later]) {
    const call = await play(tool, {}, {}, { accounts });
    expect([call.text, call.asked]).toEqual(["5", []]);
  }
});

test("without one the script is asked, in rounds and in a task", async () => {
  const { length, later } = tools();
  for (const tool of [length, later]) {
    const call = await play(tool, {}, { github: true });
    expect(call.text).toBe(String("token of github".length));
    expect(call.asked).toMatchObject([
      { key: "github", kind: "connect", message: "Sign in to connect your account at github." },
    ]);
  }
});

test("the script can refuse, or wait too long", async () => {
  const { length } = tools();
  const call = await play(length, {}, { github: cancelled });
  expect(call.text).toBe('Question "github" was cancelled without an answer.');
  expect((await play(length, {}, { github: timedOut })).text).toBe(
    'Question "github" was not answered in time.',
  );
});

test("a client that cannot be asked passes the question on", async () => {
  const { length } = tools(true);
  const call = await play(length, {}, { github: true }, { client: "chat" });
  expect(call.text).toBe(String("token of github".length));
  expect(call.pauses).toHaveLength(1);
});

test("a step that returns the token is a mistake here, too", async () => {
  const { leak } = tools();
  await expect(play(leak, {}, {}, { accounts })).rejects.toMatchObject({ code: "bad_result" });
});
