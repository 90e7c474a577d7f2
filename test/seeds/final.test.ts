// Plays the flows of the documents message by message, in the final form.

import type { App } from "mcp-parley";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { echo } from "../../examples/seeds/echo.ts";
import { greet, summarize } from "../../examples/seeds/mcpkit.ts";
import { mixed } from "../../examples/seeds/mixed.ts";
import { cityWeather, weather } from "../../examples/seeds/weather.ts";
import type { Day } from "../../examples/seeds/weather.ts";
import { updateWorkItem } from "../../examples/seeds/work-item.ts";
import { accept, callTool, exchange, textIn, tokenIn } from "../wire/post.ts";
import { ask, call, taskIdIn, textOf, until } from "../wire/task-calls.ts";
import { expectFinal, expectOwn, expectTask, finalRequest, finalRequests, send } from "./final.ts";
import { golden } from "./golden.ts";
import { expectAsNoted, loosened, played } from "./plays.ts";
import { serving } from "./serving.ts";

/** Every message is played, or a test shows that it has no final form. */
expectAsNoted({}, [{ what: "the form", messages: ["002.1"], why: "there are dots in its place" }]);

/** Finds a member of a message by its path. */
function within(name: string, ...path: string[]): Record<string, never> {
  let found: unknown = played(name);
  for (const member of path) found = (found as Record<string, unknown>)[member];
  return found as Record<string, never>;
}

describe("001: rounds", () => {
  test("the weather tool asks once, gets its answer and completes", async () => {
    const to = await serving(weather);
    const asked = await send(to, "001.4");
    expectFinal(asked, "001.5");
    const done = await send(to, "001.6", { requestState: tokenIn(asked) });
    expectFinal(done, "001.7");
    expect([asked.id, done.id]).toEqual([golden("001.5").id, golden("001.7").id]);
  });

  test("the shapes at the beginning are the same: a result that asks, and the retry", async () => {
    const to = await serving(weather);
    const asked = await send(to, "001.4");
    expectFinal(asked, "001.1");
    // F3: in the document, its fields are next to the params.
    const { id, inputResponses, requestState } = played("001.2");
    const params = { ...golden("001.4").params, inputResponses, requestState };
    const retry = finalRequest({ id: Number(id), params }, { requestState: tokenIn(asked) });
    expectFinal(await exchange(to, retry), "001.7");
  });

  test("Azure DevOps asks a second question that follows from the first answer, which the token keeps", async () => {
    const to = await serving(updateWorkItem);
    const first = await send(to, "001.8");
    expectFinal(first, "001.9");
    // There is a token even if the document has no state, because an answer counts only for the question that was asked.
    const { id, params } = played("001.10");
    const retry = { id: Number(id), params: { ...params, requestState: "" } };
    const second = await exchange(to, finalRequest(retry, { requestState: tokenIn(first) }));
    expectFinal(second, "001.11");
    const done = await send(to, "001.12", { requestState: tokenIn(second) });
    expectFinal(done, "001.13");
  });

  test("unrequested data is ignored, and the question is asked", async () => {
    const to = await serving(weather);
    expectFinal(await send(to, "001.26"), "001.27");
  });

  test("a form and a completion are asked in one round, and answered in one", async () => {
    const to = await serving(mixed);
    const asked = await callTool(to, "mixed");
    expect(asked.result?.["inputRequests"]).toEqual(
      finalRequests(within("001.30", "inputRequests")),
    );
    const inputResponses = within("001.31", "inputResponses");
    const done = await callTool(to, "mixed", {}, { requestState: tokenIn(asked), inputResponses });
    expect(textIn(done)).toBe("octocat: The capital of France is Paris.");
  });
});

describe("001: the task", () => {
  test("the echo tool runs from its call to its result", async () => {
    const to = await serving(echo);
    const created = await send(to, "001.14");
    expectFinal(created, "001.15");
    const live = { taskId: taskIdIn(created) };
    await until(to, live.taskId, "input_required");
    const { inputRequests } = played("001.19").result ?? {};
    expectTask(await send(to, "001.16", live), "001.17", live, { inputRequests });
    expectTask(await send(to, "001.18", live), "001.17", live, { inputRequests });
    expectFinal(await send(to, "001.20", live), "001.21");
    await until(to, live.taskId, "completed");
    const { content } = played("001.25").result ?? {};
    const result = { resultType: "complete", content };
    expectTask(await send(to, "001.22", live), "001.23", live, { result });
    expectTask(await send(to, "001.24", live), "001.23", live, { result });
  });

  test("the answer that the document shows first is the same message", async () => {
    const to = await serving(echo);
    const live = { taskId: taskIdIn(await send(to, "001.14")) };
    await until(to, live.taskId, "input_required");
    expectFinal(await send(to, "001.3", live), "001.21");
    expect(textOf(await until(to, live.taskId, "completed"))).toBe("Echo: Hello World!");
  });

  test("unrequested data is acknowledged, and the task asks again", async () => {
    const to = await serving(echo);
    const live = { taskId: taskIdIn(await send(to, "001.14")) };
    await until(to, live.taskId, "input_required");
    expectFinal(await send(to, "001.28", live), "001.29");
    // It has a new key, because a task uses a key only once (G10).
    const again = await until(
      to,
      live.taskId,
      ({ status, inputRequests = {} }) =>
        status === "input_required" && !Object.hasOwn(inputRequests, "echo_input"),
    );
    const [key = ""] = Object.keys(again.inputRequests ?? {});
    const answer = within("001.20", "params", "inputResponses", "echo_input");
    await ask(to, "tasks/update", live.taskId, { inputResponses: { [key]: answer } });
    expect(textOf(await until(to, live.taskId, "completed"))).toBe("Echo: Hello World!");
  });
});

describe("000: the echo tool before there was a form for it", () => {
  test("the same flow has its question in tasks/get and its answer in tasks/update", async () => {
    const to = await serving(echo);
    const created = await send(to, "000.1");
    expectFinal(created, "000.2");
    const live = { taskId: taskIdIn(created) };
    await until(to, live.taskId, "input_required");
    // F17: in the document, the question itself is the response, and has a method.
    const { method, params } = played("000.6");
    const inputRequests = { echo_input: { method, params } };
    expectTask(await send(to, "000.3", live), "000.4", live, { inputRequests });
    expectTask(await send(to, "000.5", live), "000.4", live, { inputRequests });
    // F21: in the document, the answer is a response without a request.
    const { action, content } = played("000.7").result ?? {};
    const inputResponses = { echo_input: { action, content } };
    const acknowledged = await ask(to, "tasks/update", live.taskId, { inputResponses });
    expectOwn(acknowledged.result, { resultType: "complete" });
    await until(to, live.taskId, "completed");
    const { content: blocks } = played("000.11").result ?? {};
    const result = { resultType: "complete", content: blocks };
    expectTask(await send(to, "000.8", live), "000.9", live, { result });
    expectTask(await send(to, "000.10", live), "000.9", live, { result });
  });

  test("a question is never a block of content", async () => {
    const to = await serving(weather);
    // 000.12 considers this form, which was rejected (F18).
    expect(within("000.12", "result", "content", "0", "type")).toBe("elicitation");
    const { result = {} } = await callTool(to, "get_weather", { location: "Rome" });
    expect(Object.keys(result).toSorted()).toEqual([
      "_meta",
      "inputRequests",
      "requestState",
      "resultType",
    ]);
  });
});

describe("002: mcpkit", () => {
  test("a question and its answer lead to the greeting", async () => {
    const to = await serving(greet);
    const asked = await callTool(to, "test_tool_with_elicitation");
    loosened("the form", "002.1");
    const { inputRequests } = played("002.1").result ?? {};
    expect(asked.result).toMatchObject({ resultType: "input_required", inputRequests });
    const done = await send(to, "002.2", { requestState: tokenIn(asked) });
    expect(textIn(done)).toBe("Hello, Alice!");
  });

  test("the envelope that it requires is accepted unchanged", async () => {
    const to = await serving(greet);
    // The document has the method's name where the tool's name is meant.
    const envelope = played("002.3").params?.["_meta"] as Record<string, unknown>;
    const meta = { ...envelope, "io.modelcontextprotocol/clientInfo": undefined };
    const asked = await callTool(to, "test_tool_with_elicitation", {}, { meta });
    expect(asked.result).toMatchObject({ resultType: "input_required" });
  });

  test("progress comes under the token of the request", async () => {
    const to = await serving(summarize);
    const { notifications } = await send(to, "002.4");
    expect(notifications).toEqual([{ jsonrpc: "2.0", ...played("002.5") }]);
  });

  test("both rounds of its reference work", async () => {
    const to = await serving((app) =>
      app.tool("my_tool", {}, async (ctx) => `It is ${await ctx.ask("foo", "Foo?")}`),
    );
    const first = finalRequest(played("002.6"), {});
    const asked = await exchange(to, withClientInfo(first));
    const { params } = played("002.7");
    const inputResponses = { foo: accept({ foo: "bar" }) };
    const retry = finalRequest(
      { id: 2, params: { ...params, inputResponses, requestState: "" } },
      { requestState: tokenIn(asked) },
    );
    expect(textIn(await exchange(to, retry))).toBe("It is bar");
  });

  /** Adds the name and the version that the document replaces by dots. */
  function withClientInfo(message: ReturnType<typeof finalRequest>): typeof message {
    const { _meta, ...params } = message.params;
    const clientInfo = { name: "mcpkit", version: "1.0.0" };
    const meta = { ...(_meta as object), "io.modelcontextprotocol/clientInfo": clientInfo };
    return { ...message, params: { ...params, _meta: meta } };
  }
});

describe("003: response types", () => {
  const city = (day: Day) => (app: App) => cityWeather(app, day);

  test("a complete answer is a result", async () => {
    const to = await serving(city({}));
    const { content } = played("003.2").result as { content: [{ text: string }] };
    const { result } = await send(to, "003.1");
    // In the document, the degree sign is in the wrong encoding.
    const text = content[0].text.replace("Â°", "°");
    expectOwn(result, { resultType: "complete", content: [{ type: "text", text }] });
  });

  test("a failed answer is a result that says so", async () => {
    const to = await serving(city({ isDown: true }));
    expectFinal(await send(to, "003.1"), "003.3");
  });

  test("a promise is a task that leads to its result", async () => {
    const to = await serving(city({ isSlow: true }));
    const created = await send(to, "003.4");
    expectFinal(created, "003.5");
    const done = await until(to, taskIdIn(created), "completed");
    expect(textOf(done)).toMatch(/72° F/);
    // `tasks/get` has a status message once the handler has set one, until the task ends.
    const { statusMessage } = within("003.5", "result", "task");
    const asking = await serving(city({ isSlow: true, asks: true }));
    const asked = await until(asking, taskIdIn(await send(asking, "003.4")), "input_required");
    expect(asked["statusMessage"]).toContain(statusMessage);
    expect(done).not.toHaveProperty("statusMessage");
  });

  test("an answer that needs more is the same in all three of its forms", async () => {
    const to = await serving(city({ asks: true }));
    const asked = await send(to, "003.6");
    // F17 for option 1, F22 for option 2: the request is under a key, with its method.
    const question = { method: played("003.7").method, params: played("003.7").params };
    const inList = within("003.9", "result", "AdditionalInfoRequested", "elicitation", "0");
    expect({ method: question.method, ...inList }).toEqual(question);
    expectOwn(asked.result, {
      resultType: "input_required",
      inputRequests: { name: question },
      requestState: expect.any(String),
    });
    // F23: the answer is under the same key, with its action.
    const byName = played("003.8")["elicitation"] as { name: string; value: string };
    expect(played("003.10")["elicitation"]).toEqual([byName]);
    const inputResponses = { [byName.name]: accept({ [byName.name]: byName.value }) };
    const { params } = played("003.10");
    const retry = { id: 2, params: { ...params, inputResponses, requestState: "" } };
    const done = await exchange(to, finalRequest(retry, { requestState: tokenIn(asked) }));
    expect(textIn(done)).toMatch(/^Current weather in New York/);
  });

  test("a promise that needs more is answered under its task", async () => {
    const to = await serving((app) =>
      app.tool("form", { task: "optional" }, async (ctx) => {
        await ctx.background();
        const Form = z.object({ propertyName: z.string(), anotherProperty: z.int() });
        return JSON.stringify(await ctx.ask("form", "Fill it in", Form));
      }),
    );
    const taskId = taskIdIn(await call(to, "form"));
    await until(to, taskId, "input_required");
    // F20, F21: in the document, this is a response from the client, with `_meta` next to its result.
    const inputResponses = { form: played("003.11").result };
    await ask(to, "tasks/update", taskId, { inputResponses });
    const { content } = played("003.11").result ?? {};
    expect(textOf(await until(to, taskId, "completed"))).toBe(JSON.stringify(content));
  });

  test("`stream` is not a parameter of tools/call, and the response is the same without it", async () => {
    const to = await serving(city({}));
    expect(golden("003.12").params).toHaveProperty("stream");
    expect((await send(to, "003.12")).result).toEqual((await send(to, "003.1")).result);
  });

  test("there is no tasks/result to stream from", async () => {
    const to = await serving(city({ isSlow: true }));
    const taskId = taskIdIn(await send(to, "003.4"));
    const { method = "" } = played("003.13");
    const answer = await ask(to, method, taskId);
    expect(answer).toMatchObject({ status: 404, error: { code: -32601 } });
  });
});
