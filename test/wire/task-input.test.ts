// Questions inside a task, and the answers of honest and of hostile clients.

import { describe, expect, test } from "vitest";
import { accept, envelope, exchange, post } from "./post.ts";
import type { To } from "./post.ts";
import { ask, begun, call, follows, ovenHere, stays, textOf, until } from "./task-calls.ts";

const update = (to: To, task: string, inputResponses: unknown) =>
  ask(to, "tasks/update", task, { inputResponses });

const keysIn = async (to: To, task: string) =>
  Object.keys((await until(to, task, "input_required")).inputRequests ?? {});

describe("an answer", () => {
  test("is applied when it is acknowledged, so that the next tasks/get no longer asks [S96] [G11]", async () => {
    const { to } = await ovenHere();
    const task = await begun(to, "two");
    expect(await keysIn(to, task)).toEqual(["one", "other"]);
    await update(to, task, { one: accept({ one: "1" }) });
    const { result } = await ask(to, "tasks/get", task);
    expect(result).toMatchObject({ status: "input_required" });
    expect(Object.keys(result?.["inputRequests"] as object)).toEqual(["other"]);
    await update(to, task, { other: accept({ other: "2" }) });
    expect((await ask(to, "tasks/get", task)).result?.["status"]).not.toBe("input_required");
    expect(textOf(await until(to, task, "completed"))).toBe("1 and 2");
  });

  test("counts once, and a second one to the same question is acknowledged and ignored [S95] [G11]", async () => {
    const { to } = await ovenHere();
    const task = await begun(to, "two");
    await until(to, task, "input_required");
    const first = await update(to, task, { one: accept({ one: "first" }) });
    const second = await update(to, task, {
      one: accept({ one: "second" }),
      other: accept({ other: "2" }),
    });
    expect(second.result).toEqual(first.result);
    expect(textOf(await until(to, task, "completed"))).toBe("first and 2");
  });

  test("of two simultaneous answers, one wins [G11]", async () => {
    const { to } = await ovenHere();
    const task = await begun(to, "two");
    await until(to, task, "input_required");
    const racing = Array.from({ length: 10 }, (_, n) =>
      update(to, task, { one: accept({ one: `${n}` }) }),
    );
    const acks = await Promise.all(racing);
    expect(new Set(acks.map(({ result }) => JSON.stringify(result))).size).toBe(1);
    await update(to, task, { other: accept({ other: "2" }) });
    expect(textOf(await until(to, task, "completed"))).toMatch(/^\d and 2$/);
  });

  test("an answer that does not fit the form is accepted, and the question is asked again under a new key [S93] [G10]", async () => {
    const { to } = await ovenHere();
    const task = await begun(to, "fussy");
    expect(await keysIn(to, task)).toEqual(["age"]);
    const { result } = await update(to, task, { age: accept({ age: 12 }) });
    expect(result).toMatchObject({ resultType: "complete" });
    const again = await until(to, task, ({ inputRequests = {} }) => "age~2" in inputRequests);
    expect(Object.keys(again.inputRequests!)).toEqual(["age~2"]);
    expect(JSON.stringify(again.inputRequests)).toMatch(/How old\?.*18/);
    // The old key is used up, so an answer to it is ignored.
    await update(to, task, { age: accept({ age: 40 }) });
    expect((await ask(to, "tasks/get", task)).result).toEqual(again);
    await update(to, task, { "age~2": accept({}) });
    await until(to, task, ({ inputRequests = {} }) => "age~3" in inputRequests);
    await update(to, task, { "age~3": accept({ age: 40 }) });
    expect(textOf(await until(to, task, "completed"))).toBe("40");
  });

  test.each([{}, { age: null }, { age: "old" }, { wage: 40 }, undefined])(
    "an answer with the content %j does not fit either, and is asked for again [G10]",
    async (content) => {
      const { to } = await ovenHere();
      const task = await begun(to, "fussy");
      await until(to, task, "input_required");
      const { error } = await update(to, task, { age: { action: "accept", content } });
      expect(error).toBeUndefined();
      await until(to, task, ({ inputRequests = {} }) => "age~2" in inputRequests);
    },
  );

  test.each(["decline", "cancel"])(
    "may be a refusal: %s ends the task with a message",
    async (action) => {
      const { to } = await ovenHere();
      const task = await begun(to, "fussy");
      await until(to, task, "input_required");
      await update(to, task, { age: { action } });
      const over = await until(to, task, "completed");
      expect(over).toMatchObject({ result: { isError: true } });
      expect(textOf(over)).toMatch(/declined|cancelled/);
    },
  );

  test("an answer of every kind reaches the handler as it would in a round [S92] [D16]", async () => {
    const { to } = await ovenHere();
    const task = await begun(to, "every_kind");
    await until(to, task, "input_required");
    await update(to, task, {
      form: accept({ name: "Ada", news: false }),
      page: { action: "accept" },
      motto: {
        role: "assistant",
        content: [{ type: "text", text: "Bread" }],
        model: "m",
        stopReason: "endTurn",
      },
      roots: { roots: [{ uri: "file:///home/ada", name: "home" }] },
    });
    expect(JSON.parse(textOf(await until(to, task, "completed")))).toEqual({
      form: { name: "Ada", news: false },
      sample: "Bread",
      roots: [{ uri: "file:///home/ada", name: "home" }],
    });
  });

  test("an answer that comes before its question, or without one, is acknowledged and does not count [S95] [D16]", async () => {
    const { to, done } = await ovenHere();
    const task = await begun(to, "bake", { loaf: "rye" });
    for (const inputResponses of [
      { "crust~2": accept({ crust: "thin" }) },
      { nobodys: { ignored: true } },
      { nobodys: 7, others: null, more: ["x"], "": "text" },
      {},
    ]) {
      expect((await update(to, task, inputResponses)).result).toMatchObject({
        resultType: "complete",
      });
    }
    done.resolve();
    expect(await keysIn(to, task)).toEqual(["crust"]);
  });
});

describe("what the client of the call does not support", () => {
  test("fails the task with -32021, whatever the polling client declares [G13] [D16]", async () => {
    const { to } = await ovenHere();
    const { extensions } = { extensions: { "io.modelcontextprotocol/tasks": {} } };
    const task = await begun(to, "sampler", {}, { capabilities: { extensions } });
    const failed = await until(to, task, "failed");
    expect(failed).toMatchObject({
      error: { code: -32021, data: { requiredCapabilities: { sampling: {} } } },
    });
    expect(failed).not.toHaveProperty("result");
  });

  test("is decided by the call: supported questions are asked, even if the polling client declares less [S88] [G13]", async () => {
    const { to } = await ovenHere();
    const task = await begun(to, "every_kind");
    const bare = { capabilities: { extensions: { "io.modelcontextprotocol/tasks": {} } } };
    const asked = await until(to, task, "input_required", bare);
    expect(Object.keys(asked.inputRequests!)).toEqual(["form", "page", "motto", "roots"]);
  });

  test("is decided for pages and forms separately [S25] [D16]", async () => {
    const { to } = await ovenHere();
    const capabilities = {
      ...stays,
      elicitation: {},
      extensions: { "io.modelcontextprotocol/tasks": {} },
    };
    const task = await begun(to, "every_kind", {}, { capabilities });
    expect(await until(to, task, "failed")).toMatchObject({
      error: { code: -32021, data: { requiredCapabilities: { elicitation: { url: {} } } } },
    });
  });
});

describe("hostile inputResponses", () => {
  const deep = (levels: number) =>
    JSON.parse(`${'{"a":'.repeat(levels)}1${"}".repeat(levels)}`) as object;

  test.each([
    ["null", null],
    ["a string", "accept"],
    ["a number", 7],
    ["true", true],
    ["a list", [accept({ one: "1" })]],
    ["an empty list", []],
  ])("%s is -32602, and nothing is applied [G10] [D24]", async (_, inputResponses) => {
    const { to, store } = await ovenHere();
    const task = await begun(to, "two");
    await until(to, task, "input_required");
    const before = await store.read(task);
    const { status, error } = await update(to, task, inputResponses);
    expect([status, error?.code]).toEqual([200, -32602]);
    expect(await store.read(task)).toEqual(before);
  });

  test("missing inputResponses are -32602, too, because the method is for answers [G10]", async () => {
    const { to } = await ovenHere();
    const task = await begun(to, "two");
    expect((await ask(to, "tasks/update", task)).error?.code).toBe(-32602);
  });

  test.each([
    ["null", null],
    ["a string", "1"],
    ["a number", 1],
    ["a list", [accept({ one: "1" })]],
    ["an empty object", {}],
    ["an unknown action", { action: "perhaps" }],
    ["a completion", { role: "assistant", content: { type: "text", text: "1" }, model: "m" }],
    ["roots", { roots: [] }],
    ["a result in a wrapper", { method: "elicitation/create", result: accept({ one: "1" }) }],
    ["content that is a string", { action: "accept", content: "1" }],
    ["content that is a list", { action: "accept", content: ["1"] }],
    ["content with an object in it", accept({ one: { two: 3 } })],
    ["content with a list of numbers", accept({ one: [1, 2] })],
    ["something two hundred levels deep", accept({ one: deep(200) })],
  ])(
    "%s for an open question is -32602, and nothing is applied, not even the valid answer beside it [G10] [D24]",
    async (_, answer) => {
      const { to, store } = await ovenHere();
      const task = await begun(to, "two");
      await until(to, task, "input_required");
      const before = await store.read(task);
      const { status, error } = await update(to, task, {
        other: accept({ other: "2" }),
        one: answer,
      });
      expect([status, error?.code]).toEqual([200, -32602]);
      expect(await store.read(task)).toEqual(before);
    },
  );

  test.each([
    ["sampling", "motto", { action: "accept", content: {} }],
    ["sampling", "motto", { role: "user", content: { type: "text", text: "x" }, model: "m" }],
    ["sampling", "motto", { role: "assistant", content: { type: "text" }, model: "m" }],
    ["sampling", "motto", { role: "assistant", content: { type: "text", text: "x" } }],
    ["roots", "roots", { roots: "file:///" }],
    ["roots", "roots", { roots: [{ uri: "https://example.com" }] }],
    ["roots", "roots", { roots: [{ uri: "file:///x", name: 7 }] }],
    ["a page", "page", { roots: [] }],
  ])("the wrong kind for %s (%s: %j) is -32602 [G10] [D24]", async (_, key, answer) => {
    const { to } = await ovenHere();
    const task = await begun(to, "every_kind");
    await until(to, task, "input_required");
    const { error } = await update(to, task, {
      [key]: answer,
      form: accept({ name: "A", news: true }),
    });
    expect(error?.code).toBe(-32602);
    expect(await keysIn(to, task)).toEqual(["form", "page", "motto", "roots"]);
  });

  test.each([
    [240, "an open question", "one", -32602],
    [240, "an unknown key", "nobodys", undefined],
    // A request that is nested so deeply is refused whole.
    [10_000, "an open question", "one", -32000],
    [10_000, "an unknown key", "nobodys", -32000],
  ])("%i levels for %s do no harm [S95] [G10] [D23]", async (levels, _, key, code) => {
    const { to } = await ovenHere();
    const task = await begun(to, "two");
    await until(to, task, "input_required");
    // Written by hand, because JSON.stringify would overflow the stack.
    const nested = `${'{"a":'.repeat(levels)}1${"}".repeat(levels)}`;
    const own = { capabilities: follows };
    const message = envelope("tasks/update", { taskId: task, inputResponses: "HERE" }, own);
    const body = JSON.stringify(message).replace('"HERE"', `{"${key}":${nested}}`);
    const { error } = await exchange(to, message, { body });
    expect(error?.code).toBe(code);
    expect(await keysIn(to, task)).toEqual(["one", "other"]);
  });

  test("names of members of every object are treated like any other [D24]", async () => {
    const { to } = await ovenHere();
    const task = await begun(to, "two");
    await until(to, task, "input_required");
    const text =
      '{"__proto__":{"one":{"action":"accept","content":{"one":"1"}}},"constructor":{"prototype":{"x":1}},"toString":{"a":1},"hasOwnProperty":{}}';
    const { result } = await update(to, task, JSON.parse(text));
    expect(result).toMatchObject({ resultType: "complete" });
    expect(await keysIn(to, task)).toEqual(["one", "other"]);
    expect({}).not.toHaveProperty("x");
    const inside = JSON.parse(
      '{"action":"accept","content":{"__proto__":{"one":"1"},"one":"2"}}',
    ) as object;
    await update(to, task, { one: inside, other: accept({ other: "2" }) });
    const over = await until(to, task, ({ status }) => status !== "working");
    // The answer is refused, or its own member is read, but never a member of the prototype.
    expect(JSON.stringify(over)).not.toContain("1 and 2");
  });

  test("a question may have such a name, too [D24]", async () => {
    const { app, to } = await ovenHere();
    app.tool("named", { task: "required" }, async (ctx) => {
      await ctx.background();
      const [one, other] = await Promise.all([
        ctx.ask("constructor", "One?"),
        ctx.ask("toString", "Other?"),
      ]);
      return `${one} and ${other}`;
    });
    const task = await begun(to, "named");
    const asked = await until(to, task, "input_required");
    expect(Object.keys(asked.inputRequests!)).toEqual(["constructor", "toString"]);
    await update(to, task, {
      constructor: accept({ constructor: "1" }),
      toString: accept({ toString: "2" }),
    });
    expect(textOf(await until(to, task, "completed"))).toBe("1 and 2");
  });

  test("ten megabytes are refused before they are read [D23]", async () => {
    const { to } = await ovenHere();
    const task = await begun(to, "two");
    await until(to, task, "input_required");
    const message = envelope("tasks/update", {
      taskId: task,
      inputResponses: { one: accept({ one: "x".repeat(10_000_000) }) },
    });
    const response = await post(to, message);
    expect(response.status).toBe(413);
    await response.text();
    expect(await keysIn(to, task)).toEqual(["one", "other"]);
  });

  test("seven thousand unknown keys cost little, and change nothing [S95] [D23]", async () => {
    const { to } = await ovenHere();
    const task = await begun(to, "two");
    await until(to, task, "input_required");
    const keys = Array.from({ length: 7_000 }, (_, n) => [`k${n}`, {}]);
    const { result } = await update(to, task, Object.fromEntries(keys));
    expect(result).toMatchObject({ resultType: "complete" });
    expect(await keysIn(to, task)).toEqual(["one", "other"]);
  });
});

describe("a task's id", () => {
  test.each([
    ["unknown", "AAAAAAAAAAAAAAAAAAAAAA"],
    ["empty", ""],
    ["long", "x".repeat(10_000)],
    ["a path", "../../../etc/passwd"],
    ["with NUL", "a\u0000b"],
    ["with a line break", "a\r\nSet-Cookie: x"],
    ["not ASCII", "täsk-😀"],
    ["a lone surrogate", "\ud800"],
    ["a piece of SQL", "' or 1=1 --"],
    ["a member of every object", "__proto__"],
  ])("an id that is %s is unknown: the same -32602 everywhere [S98] [D9]", async (_, taskId) => {
    const { to, logged } = await ovenHere();
    for (const method of ["tasks/get", "tasks/update", "tasks/cancel"]) {
      const { status, error } = await ask(to, method, taskId, { inputResponses: {} });
      // A lone surrogate has no bytes in UTF-8, so no header can contain it.
      if (taskId === "\ud800") {
        expect(error?.code).toBeOneOf([-32602, -32020]);
        continue;
      }
      expect([status, error]).toEqual([
        200,
        { code: -32602, message: "No such task", data: { reason: "unknown_task" } },
      ]);
    }
    expect(logged.filter(({ level }) => level === "error" || level === "warn")).toEqual([]);
  });

  test.each([[null], [7], [true], [{}], [["x"]], [undefined]])(
    "an id that is %j is unknown [S98]",
    async (taskId) => {
      const { to } = await ovenHere();
      for (const method of ["tasks/get", "tasks/update", "tasks/cancel"]) {
        const { error } = await exchange(
          to,
          envelope(
            method,
            { taskId, inputResponses: {} },
            {
              capabilities: { extensions: { "io.modelcontextprotocol/tasks": {} } },
            },
          ),
          { headers: { "mcp-name": JSON.stringify(taskId ?? null) } },
        );
        expect(error?.code).toBeOneOf([-32602, -32020]);
      }
    },
  );
});

test("a question may have its own time limit, so that the task ends without an answer [G12]", async () => {
  const { to } = await ovenHere();
  const task = await begun(to, "hurry");
  const over = await until(to, task, "completed");
  expect(over).toMatchObject({ result: { isError: true } });
  expect(textOf(over)).toContain("name");
  const late = await update(to, task, { name: accept({ name: "Ada" }) });
  expect(late.error).toBeUndefined();
  expect((await ask(to, "tasks/get", task)).result).toEqual(over);
});

test("polling does not ask a question of a task twice [S93] [S114]", async () => {
  const { to } = await ovenHere();
  const task = await begun(to, "two");
  const asked = await until(to, task, "input_required");
  for (let n = 0; n < 5; n += 1) {
    expect((await ask(to, "tasks/get", task)).result).toEqual(asked);
  }
});

test("the questions of a task are sealed to it, and another task's answer does not fit [D16]", async () => {
  const { to } = await ovenHere();
  const [one, other] = [await begun(to, "two"), await begun(to, "two")];
  await until(to, one, "input_required");
  await until(to, other, "input_required");
  await update(to, one, { one: accept({ one: "1" }), other: accept({ other: "2" }) });
  await until(to, one, "completed");
  expect(await keysIn(to, other)).toEqual(["one", "other"]);
});

test("a round's token cannot answer a task's question [D16] [S87]", async () => {
  const { to } = await ovenHere();
  const asked = await call(to, "order", { loaf: "rye" });
  const requestState = asked.result?.["requestState"];
  const named = await call(
    to,
    "order",
    { loaf: "rye" },
    {
      requestState,
      inputResponses: { sure: accept(), slices: accept({ slices: 9 }) },
    },
  );
  // An answer to a question that was not asked yet is not kept until it is asked.
  const made = await call(
    to,
    "order",
    { loaf: "rye" },
    {
      requestState: named.result?.["requestState"],
      inputResponses: { name: accept({ name: "Ada" }), slices: accept({ slices: 9 }) },
    },
  );
  const task = made.result?.["taskId"] as string;
  expect(await keysIn(to, task)).toEqual(["slices"]);
});
