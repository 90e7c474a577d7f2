// What the audit records of the questions of a call, in rounds, in tasks and in paused calls.

import { expect, test } from "vitest";
import { z } from "zod";
import { play } from "../../testing/play.ts";
import type { Played } from "../../testing/play.ts";
import { approvedBy, cancelled, declined, timedOut } from "../../testing/script.ts";
import type { ScriptedAnswer } from "../../testing/script.ts";
import { memoryStore } from "mcp-parley";
import { inputRequired } from "../context/low-level.ts";
import { parley } from "../parley.ts";

const app = parley({ name: "audited", version: "1.0.0" });

const deploy = app.tool(
  "deploy",
  { inputSchema: z.object({ service: z.string() }) },
  async ({ service }, ctx) => {
    const isSure = await ctx.confirm("sure", `Deploy ${service}?`, { timeoutMs: 60_000 });
    if (!isSure) return "not deployed";
    const where = await ctx.choose("where", "Where?", ["eu", "us"], { relay: true });
    return `${service} is deployed in ${where}`;
  },
);
const silent = app.tool("silent", {}, async () => "nothing asked");
const web = { service: "web" };

const lines = ({ audit }: Pick<Played<unknown, unknown>, "audit">) =>
  audit.map(({ action, key, via, who, note }) =>
    [action, key, via, who, note].filter((part) => part !== undefined).join(" "),
  );

test("a call that asks nothing is not recorded", async () => {
  expect((await play(silent, {})).audit).toEqual([]);
});

test("questions and answers are recorded once, with what was asked, of whom and how", async () => {
  const call = await play(deploy, web, { sure: true, where: "eu" }, { principal: "ada" });
  expect(lines(call)).toEqual([
    "asked sure form",
    "answered sure form",
    "asked where form",
    "answered where form",
  ]);
  const [first, second] = call.audit;
  expect(first).toEqual({
    id: expect.any(String),
    at: expect.any(Date),
    action: "asked",
    tool: "deploy",
    callId: expect.any(String),
    principal: "ada",
    key: "sure",
    digest: expect.any(String),
    message: "Deploy web?",
    via: "form",
  });
  expect(second).toMatchObject({ digest: first?.digest, message: "Deploy web?" });
  expect(second).not.toHaveProperty("value");
  expect(new Set(call.audit.map(({ id }) => id)).size).toBe(4);
});

test.each<[ScriptedAnswer, string]>([
  [declined, "declined sure form"],
  [cancelled, "cancelled sure form"],
  [timedOut, "timed_out sure"],
])("a person who does not answer is recorded as that (%#)", async (answer, line) => {
  const call = await play(deploy, web, { sure: answer });
  expect(lines(call)).toEqual(["asked sure form", line]);
});

test("the values are recorded only on request", async () => {
  const open = parley({ name: "open", version: "1.0.0", audit: { values: true } });
  const tool = open.tool("ask", {}, async (ctx) => ctx.ask("name", "Name?"));
  const { audit } = await play(tool, {}, { name: "Ada" });
  expect(audit.map(({ action, value }) => [action, value])).toEqual([
    ["asked", undefined],
    ["answered", { name: "Ada" }],
  ]);
});

test("what a model relays and what the App brings is recorded as that", async () => {
  const store = memoryStore();
  const relaying = parley({ name: "relaying", version: "1.0.0", store, relay: true });
  const tool = relaying.tool("order", { ui: "form" }, async (ctx) =>
    ctx.choose("size", "Size?", ["S", "L"], { relay: true }),
  );
  for (const [client, via] of [
    ["chat", "relay"],
    ["app", "app"],
    ["modern", "form"],
  ] as const) {
    const call = await play(tool, {}, { size: "L" }, { client });
    expect(lines(call)).toEqual([`asked size ${via}`, `answered size ${via}`]);
    expect(call.asked.map((question) => question.via)).toEqual([via]);
  }
});

const release = app.undo<string>("release", () => {});
const buy = app.tool(
  "buy",
  { task: "optional", inputSchema: z.object({ item: z.string() }) },
  async ({ item }, ctx) => {
    const color = await ctx.ask("color", "Color?");
    await ctx.background();
    await ctx.step("reserve", () => item, { undo: release });
    const size = await ctx.ask("size", "Size?", z.enum(["S", "L"]));
    const about = { Item: item, Color: color };
    const notify = () => {};
    const { price } = await ctx.waitFor("the-price", z.object({ price: z.int() }), {
      notify,
      about,
    });
    if (price > 100) throw new Error("too expensive");
    return `${item}, ${color}, ${size} for ${price}`;
  },
);

test("a call that becomes a task has one record, from its rounds to its end", async () => {
  const call = await play(
    buy,
    { item: "shirt" },
    { color: "red", size: "L", "the-price": { price: 20 } },
    { principal: "ada" },
  );
  expect(call.text).toBe("shirt, red, L for 20");
  expect(lines(call)).toEqual([
    "asked color form",
    "answered color form",
    "asked size form",
    "answered size form",
    "asked the-price",
    "answered the-price delivery",
  ]);
  expect(new Set(call.audit.map(({ callId }) => callId)).size).toBe(1);
  expect(call.audit.map(({ taskId }) => taskId)).toEqual([
    undefined,
    undefined,
    ...Array.from({ length: 4 }, () => call.task?.id),
  ]);
  expect(call.audit[4]).toMatchObject({
    message: "The price",
    about: { Item: "shirt", Color: "red" },
  });
});

test("what is undone is recorded with the name of the undo", async () => {
  const script = { color: "red", size: "L", "the-price": { price: 500 } };
  const call = await play(buy, { item: "shirt" }, script);
  expect(call.isError).toBe(true);
  expect(lines(call).at(-1)).toBe("undone reserve release");
});

test("an undo that is given up is recorded with its error", async () => {
  const failing = parley({ name: "failing", version: "1.0.0", limits: { undoMs: 1 } });
  const undo = failing.undo("hopeless", () => {
    throw new Error("no way back");
  });
  const tool = failing.tool("go", { task: "required" }, async (ctx) => {
    await ctx.background();
    await ctx.step("leap", () => 1, { undo });
    throw new Error("fell");
  });
  const call = await play(tool, {});
  expect(lines(call)).toEqual(["undo_failed leap hopeless: no way back"]);
});

test("a question that is asked again because its answer does not fit is recorded again in a task", async () => {
  const script = { color: "red", "the-price": { price: 1 } };
  const sizes = ["XXL", "S"];
  const call = await play(buy, { item: "hat" }, ({ key }) =>
    key === "size" ? (sizes.shift() ?? "S") : script[key as keyof typeof script],
  );
  expect(lines(call).filter((line) => line.includes("size"))).toEqual([
    "asked size form",
    "asked size form",
    "answered size form",
  ]);
});

test("an approval by the caller is recorded as a decision, with what was shown", async () => {
  const tool = app.tool("pay", {}, async (ctx) => {
    await ctx.approve("pay", "Pay?", { about: { Amount: 10 } });
    return "paid";
  });
  const yes = await play(tool, {}, { pay: true });
  expect(lines(yes)).toEqual(["asked pay form", "approved pay form"]);
  expect(yes.audit[0]).toMatchObject({ message: "Pay?", about: { Amount: 10 } });
  expect(lines(await play(tool, {}, { pay: declined })).at(-1)).toBe("rejected pay form");
  expect(lines(await play(tool, {}, { pay: cancelled })).at(-1)).toBe("cancelled pay form");
});

test("an approval that is asked of a group is recorded with the group and how many are needed", async () => {
  const tool = app.tool("release", { task: "optional" }, async (ctx) => {
    await ctx.approve("release", "Release?", { by: "managers", of: 2 });
    return "released";
  });
  const script = { release: approvedBy("bo", "cy") };
  const { audit } = await play(tool, {}, script, { principal: "ada" });
  expect(audit.map(({ action, group, needed }) => ({ action, group, needed }))).toEqual([
    { action: "asked", group: "managers", needed: 2 },
    { action: "approved" },
    { action: "approved" },
  ]);
});

test("a handler that drives the rounds itself is recorded, too", async () => {
  const requestedSchema = { type: "object", properties: { size: { type: "string" } } } as const;
  const tool = app.tool("by_hand", {}, async (ctx) =>
    ctx.answers["size"] === undefined
      ? inputRequired({
          inputRequests: { size: inputRequired.elicit({ message: "Size?", requestedSchema }) },
        })
      : "done",
  );
  const call = await play(tool, {}, { size: { size: "L" } });
  expect(lines(call)).toEqual(["asked size form", "answered size"]);
  expect(call.audit[0]).toMatchObject({ message: "Size?", digest: call.audit[1]?.digest });
});
