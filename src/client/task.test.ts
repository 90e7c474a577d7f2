// Calls that become tasks, over real HTTP.

import { parley, memoryStore } from "mcp-parley";
import { afterEach, describe, expect, test } from "vitest";
import { failure } from "./failure.fixture.ts";
import { keys, quiet } from "../../test/interop/errands.ts";
import { longErrands } from "../../test/interop/long-errands.ts";
import { z } from "zod";
import { connect } from "./index.ts";
import type { Call, CallEvent, Connection, ConnectOptions } from "./index.ts";

const open: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).toReversed()) await close();
});

async function served(options: ConnectOptions = {}, app = longErrands()): Promise<Connection> {
  const { url } = await app.listen(0);
  open.push(() => app.close());
  const connection = await connect(url, options);
  open.push(() => connection.close());
  return connection;
}

const yes: ConnectOptions = {
  elicit: (question) =>
    question.kind === "url"
      ? { action: "accept" }
      : {
          action: "accept",
          content: {
            [question.key === "user_name" ? "name" : "confirm"]:
              question.key === "user_name" ? "Ada" : true,
          },
        },
  sample: () => ({ role: "assistant", content: { type: "text", text: "onwards" }, model: "m" }),
  roots: () => [{ uri: "file:///home/ada" }],
};

async function eventsOf(call: Call, most = 100): Promise<CallEvent[]> {
  const events: CallEvent[] = [];
  for await (const event of call) {
    events.push(event);
    if (events.length === most) break;
  }
  return events;
}

describe("to the result", () => {
  test("a task that asks nothing returns its result [C80]", async () => {
    const connection = await served();
    const Scales = z.object({ grams: z.int() });
    const result = await connection.call("weigh_it", {}, { outputSchema: Scales });
    expect(result.data.grams).toBe(500);
  });

  test.each([
    ["confirm_delete", { filename: "a.txt" }, "a.txt is deleted."],
    ["multi_input", {}, "accept and accept"],
    ["test_tool_with_task", {}, "Hello, Ada, from the background."],
    ["motto", {}, "onwards"],
    ["file_it", {}, "filed in file:///home/ada"],
    ["sign_in", {}, "signed in"],
  ])("%s", async (tool, args, text) => {
    const connection = await served(yes);
    expect((await connection.call(tool, args)).text).toBe(text);
  });

  test("a tool that reports a failure has a result; a tool that throws has an error [C91]", async () => {
    const connection = await served();
    const result = await connection.call("failing_job");
    expect(result.isError).toBe(true);
    const error = await failure(connection.call("protocol_error_job"));
    expect(error).toMatchObject({ code: "task_failed", rpc: { code: -32_603 } });
    expect(error.message).toContain("The job has broken down.");
    expect(error.taskId).toMatch(/\w/);
  });
});

describe("events", () => {
  test("questions come out and answers go in, each once [C84]", async () => {
    const connection = await served({ elicit: "events" });
    const call = connection.start("multi_input");
    const seen: string[] = [];
    for await (const event of call) {
      seen.push(event.type);
      if (event.type !== "asked") continue;
      for (const { key } of event.questions) {
        await expect(
          call.answer(key, { action: "accept", content: { confirm: "no" } }),
        ).rejects.toMatchObject({
          code: "bad_answer",
        });
        await call.answer(key, { action: "accept", content: { confirm: true } });
        await expect(call.answer(key, { action: "decline" })).rejects.toMatchObject({
          code: "bad_answer",
        });
      }
    }
    expect(seen.filter((type) => type !== "progress")).toEqual([
      "task",
      "asked",
      "answered",
      "answered",
      "done",
    ]);
    expect((await call.result()).text).toBe("accept and accept");
  });

  test("of two simultaneous answers to one question, one counts", async () => {
    const connection = await served({ elicit: "events" });
    const call = connection.start("confirm_delete", { filename: "a.txt" });
    await eventsOf(call, 2);
    const answers = [true, false].map((confirm) =>
      call.answer("confirm", { action: "accept", content: { confirm } }),
    );
    const settled = await Promise.allSettled(answers);
    expect(settled.map(({ status }) => status)).toEqual(["fulfilled", "rejected"]);
    expect((await call.result()).text).toBe("a.txt is deleted.");
  });

  test("cancel() cancels the task", async () => {
    const connection = await served({ elicit: "events" });
    const call = connection.start("confirm_delete", { filename: "a.txt" });
    const [, asked] = await eventsOf(call, 2);
    await call.cancel();
    await expect(call.result()).rejects.toMatchObject({ code: "cancelled" });
    const ref = asked?.type === "asked" ? asked.ref : "";
    const error = await failure(connection.resume(ref).result());
    expect(error.code).toBe("task_cancelled");
  });

  test("aborting the signal cancels the task, too", async () => {
    const connection = await served({ elicit: "events" });
    const stop = new AbortController();
    const options = { signal: stop.signal };
    const call = connection.start("confirm_delete", { filename: "a.txt" }, options);
    await eventsOf(call, 2);
    stop.abort();
    await expect(call.result()).rejects.toMatchObject({ code: "cancelled" });
  });
});

describe("time", () => {
  test("people may take longer than timeoutMs, but the server may not", async () => {
    const app = parley({
      name: "slow",
      version: "1.0.0",
      keys,
      logger: quiet,
      store: memoryStore(),
    });
    app.tool("ask", { description: "Asks", task: "required" }, async (ctx) => {
      await ctx.background();
      return ctx.ask("name", "Name?");
    });
    app.tool("sleep", { description: "Sleeps", task: "required" }, async (ctx) => {
      await ctx.background();
      await ctx.sleep("long", 60_000);
      return "awake";
    });
    const connection = await served({ elicit: "events" }, app);
    const call = connection.start("ask", {}, { timeoutMs: 1_500 });
    const events = await eventsOf(call, 2);
    expect(events.map(({ type }) => type)).toEqual(["task", "asked"]);
    const thinking = connection.start("sleep", {}, { timeoutMs: 1_500 });
    const error = await failure(thinking.result());
    expect(error.code).toBe("timed_out");
    expect(error.ref).toMatch(/^parley1\./);
    // The other call has the same time limit, and none of its time was used up.
    await call.answer("name", { action: "accept", content: { name: "Ada" } });
    expect((await call.result()).text).toBe("Ada");
    await connection.resume(error.ref ?? "").cancel();
  });
});
