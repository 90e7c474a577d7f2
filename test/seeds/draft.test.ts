// Plays the flows of the documents as printed, in the draft form. What the server chooses (tokens, ids, times, the polling
// interval, the message of a status) comes from the running call; everything else is as printed.

import { describe, expect, test } from "vitest";
import { drafts } from "mcp-parley/drafts";
import { echo } from "../../examples/seeds/echo.ts";
import { mixed } from "../../examples/seeds/mixed.ts";
import { provisionVm } from "../../examples/seeds/provision-vm.ts";
import { cityWeather, weather } from "../../examples/seeds/weather.ts";
import { updateWorkItem } from "../../examples/seeds/work-item.ts";
import { answerIn, draftOverHttp, postDraft, taskIn, untilTask } from "../draft/peer.ts";
import type { Answer } from "../draft/peer.ts";
import { deferred } from "../wire/deferred.ts";
import { expectAsNoted, loosened, played } from "./plays.ts";
import { connected, servingWith } from "./serving.ts";
import type { Register } from "./serving.ts";
import { loosenings } from "./slips.ts";

type Members = Readonly<Record<string, unknown>>;

interface Live {
  readonly requestState?: unknown;
  readonly taskId?: string;
}

/** A peer that speaks the draft with a server of these tools. */
async function drafting(...tools: Register[]) {
  // As in 004, where the tool is marked with DeferTaskCreation. All other tools are tasks at once, as in 000 and 001.
  const { app } = await servingWith({ drafts: drafts({ deferTasks: ["provision-vm"] }) }, ...tools);
  const peer = await draftOverHttp(app);
  const headers = { "mcp-session-id": peer.sessionId };
  const post = (message: object) => postDraft(app, message, headers);
  return {
    peer,
    post,
    /** Sends a message as it is printed, under its printed id. */
    send: async (name: string, live: Live = {}): Promise<Answer> => {
      const message = played(name);
      const params = withLive(name, message.params, live);
      const answer = answerIn(await post({ ...message, params }));
      expect(answer.id).toBe(message.id);
      return answer;
    },
  };
}

function withLive(name: string, params: Members = {}, { requestState, taskId }: Live): Members {
  if (requestState !== undefined && !("requestState" in params)) loosened(state, name);
  return {
    ...params,
    ...(requestState === undefined ? {} : { requestState }),
    ...("taskId" in params ? { taskId } : {}),
    ...("_meta" in params ? { _meta: about(taskId) } : {}),
  };
}

const about = (taskId: unknown) => ({ "io.modelcontextprotocol/related-task": { taskId } });
const time: unknown = expect.stringMatching(/^\d{4}-\d\d-\d\dT/);
const stateIn = ({ result: given }: Answer): Live => ({ requestState: given?.["requestState"] });

// ---------------------------------------------------------------- comparing with the printed messages

const state = "a state, which is not printed";

/** Checks that the result is exactly the printed one, except for what slips.ts notes. */
function expectPrinted(answer: Answer, name: string, { taskId }: Live = {}): void {
  const { inputRequests, requestState, task, _meta, ...rest } = played(name).result ?? {};
  const isStateAdded = inputRequests !== undefined && taskId === undefined && !requestState;
  if (isStateAdded) loosened(state, name);
  expect(answer.result).toEqual({
    ...("taskId" in rest ? statusOf(name, rest, taskId) : rest),
    ...(task === undefined ? {} : { task: statusOf(name, { ...task }, expect.any(String)) }),
    ...(inputRequests === undefined
      ? {}
      : { inputRequests: questions(name, { ...inputRequests }) }),
    ...(requestState === undefined && !isStateAdded
      ? {}
      : { requestState: expect.stringMatching(/^v1\./) as unknown }),
    ...(_meta === undefined ? {} : { _meta: about(taskId) }),
  });
}

/** Ids and times are those of the running call. */
function statusOf(name: string, printed: Members, taskId: unknown): Members {
  const { status, statusMessage, ttl, pollInterval, ...rest } = printed;
  expect(Object.keys(rest)).toEqual(expect.arrayContaining(["taskId", "createdAt"]));
  if (statusMessage !== undefined) loosened("the message of a status", name);
  if (pollInterval !== 1_000) loosened("the polling interval", name);
  if (!("lastUpdatedAt" in rest)) loosened("lastUpdatedAt, which is not printed", name);
  if (status === "completed") loosened("the lifetime of a finished task", name);
  return {
    taskId,
    status,
    createdAt: time,
    lastUpdatedAt: time,
    ttl: status === "completed" ? (expect.any(Number) as unknown) : ttl,
    pollInterval: 1_000,
  };
}

function questions(name: string, requests: Members): Members {
  return Object.fromEntries(
    Object.entries(requests).map(([key, request]) => {
      const { method, params } = request as { method: string; params: Members };
      if (method !== "elicitation/create" || "mode" in params) return [key, request];
      loosened('mode: "form", which is not printed', name);
      return [key, { method, params: { mode: "form", ...params } }];
    }),
  );
}

/** The messages that are not played as printed, and why. */
expectAsNoted(
  {
    "000.2": "its status is a slip; 001.15 is the same message",
    "000.4": "its status is a slip; 001.17 is the same message",
    "000.9": "its status is a slip; 001.23 is the same message",
    "000.12": "an option that was weighed and rejected (F18)",
    "001.1": "001.5 is the same message",
    "001.2": "it is incomplete; 001.6 is the same message",
    "002.1": "it is already in the final form, like all of 002",
    "002.2": "in the final form",
    "002.3": "in the final form",
    "002.4": "in the final form",
    "002.5": "in the final form",
    "002.6": "in the final form",
    "002.7": "in the final form",
    "003.7": "an option that was weighed and rejected (F17)",
    "003.8": "an option that was weighed and rejected (F23)",
    "003.9": "an option that was weighed and rejected (F22)",
    "003.10": "an option that was weighed and rejected (F23)",
  },
  loosenings,
);

// ---------------------------------------------------------------- the flows

describe("rounds", () => {
  test("001: the weather tool runs as printed", async () => {
    const { send } = await drafting(weather);
    const asked = await send("001.4");
    expectPrinted(asked, "001.5");
    expectPrinted(await send("001.6", stateIn(asked)), "001.7");
  });

  test("001: Azure DevOps runs as printed", async () => {
    const { send } = await drafting(updateWorkItem);
    const first = await send("001.8");
    expectPrinted(first, "001.9");
    // The question came with a state, so the client returns it.
    const second = await send("001.10", stateIn(first));
    expectPrinted(second, "001.11");
    expectPrinted(await send("001.12", stateIn(second)), "001.13");
  });

  test("001: unrequested data is ignored, as printed", async () => {
    const { send } = await drafting(weather);
    expectPrinted(await send("001.26"), "001.27");
  });

  test("001: the form and the completion go out in one round, as printed", async () => {
    const { peer } = await drafting(mixed);
    const asked = await peer.ask("tools/call", { name: "mixed" });
    expect(asked.result).toEqual({
      inputRequests: questions("001.30", played("001.30")["inputRequests"] as Members),
      requestState: expect.any(String) as unknown,
    });
    const { inputResponses } = played("001.31");
    const params = { name: "mixed", inputResponses, ...stateIn(asked) };
    expect((await peer.ask("tools/call", params)).result).toEqual({
      content: [{ type: "text", text: "octocat: The capital of France is Paris." }],
      isError: false,
    });
  });
});

describe("tasks", () => {
  test("001: the echo tool's task runs as printed", async () => {
    const { send, peer } = await drafting(echo);
    const created = await send("001.14");
    expectPrinted(created, "001.15");
    const live = taskIn(created);
    await untilTask(peer, live.taskId, "input_required");
    expectPrinted(await send("001.16", live), "001.17", live);
    expectPrinted(await send("001.18", live), "001.19", live);
    expectPrinted(await send("001.20", live), "001.21", live);
    await untilTask(peer, live.taskId, "completed");
    expectPrinted(await send("001.22", live), "001.23", live);
    expectPrinted(await send("001.24", live), "001.25", live);
  });

  test("001: unrequested data leaves the task waiting, as printed", async () => {
    const { send, peer } = await drafting(echo);
    const live = taskIn(await send("001.14"));
    await untilTask(peer, live.taskId, "input_required");
    expectPrinted(await send("001.28", live), "001.29", live);
    expectPrinted(await send("001.16", live), "001.17", live);
    expectPrinted(await send("001.18", live), "001.19", live);
    // The answer as 001 prints it first.
    expectPrinted(await send("001.3", live), "001.21", live);
    await untilTask(peer, live.taskId, "completed");
    expectPrinted(await send("001.24", live), "001.25", live);
  });

  test("000: the echo tool runs as printed, except for the document's slips", async () => {
    const { send, post, peer } = await drafting(echo);
    const created = await send("000.1");
    // The status words in these results are mistakes. The flow is that of 001, so the words of 001 are meant.
    expectPrinted(created, "001.15");
    const live = taskIn(created);
    await untilTask(peer, live.taskId, "input_required");
    expectPrinted(await send("000.3", live), "001.17", live);
    const { method, params } = played("000.6");
    expect((await send("000.5", live)).result).toEqual({
      inputRequests: { echo_input: { method, params } },
      _meta: about(live.taskId),
    });
    // A response without a request is refused. A request carries its content instead.
    const answer = played("000.7");
    expect(await post(answer)).toMatchObject({ status: 400 });
    const { action, content } = answer.result ?? {};
    const inputResponses = { echo_input: { action, content } };
    await peer.ask("tasks/input_response", { inputResponses, _meta: about(live.taskId) });
    await untilTask(peer, live.taskId, "completed");
    expectPrinted(await send("000.8", live), "001.23", live);
    expectPrinted(await send("000.10", live), "000.11", live);
  });

  test("000: with its answer the task goes on until it is completed", async () => {
    const { promise, resolve } = deferred();
    const { peer } = await drafting((app) =>
      app.tool("slow_echo", { task: "optional" }, async (ctx) => {
        await ctx.background();
        const input = await ctx.ask("echo_input", "What?");
        await ctx.step("work", () => promise);
        return `Echo: ${input}`;
      }),
    );
    const { taskId } = taskIn(await peer.ask("tools/call", { name: "slow_echo", task: {} }));
    await untilTask(peer, taskId, "input_required");
    const inputResponses = { echo_input: { action: "accept", content: { echo_input: "Hi" } } };
    await peer.ask("tasks/input_response", { inputResponses, _meta: about(taskId) });
    expect((await peer.ask("tasks/get", { taskId })).result).toMatchObject({ status: "working" });
    resolve();
    await untilTask(peer, taskId, "completed");
  });

  test("003: a promise is given as printed", async () => {
    const { send } = await drafting((app) => cityWeather(app, { isSlow: true }));
    expectPrinted(await send("003.4"), "003.5");
  });

  test("003: answers are given as printed", async () => {
    const fine = await drafting((app) => cityWeather(app, {}));
    const { content } = played("003.2").result as { content: [{ text: string }] };
    // The degree sign is a mistake in the document.
    const text = content[0].text.replace("Â°", "°");
    const done = { content: [{ type: "text", text }], isError: false };
    for (const name of ["003.1", "003.6"]) expect((await fine.send(name)).result).toEqual(done);
    const down = await drafting((app) => cityWeather(app, { isDown: true }));
    expectPrinted(await down.send("003.1"), "003.3");
  });

  test("003: an answer to a promise as a separate message is refused", async () => {
    const { post } = await drafting((app) => cityWeather(app, {}));
    expect(await post(played("003.11"))).toMatchObject({ status: 400 });
  });

  /** The parts that came before the response, under the id of the request. */
  const partsIn = ({ notifications = [] }: Answer) =>
    notifications.filter(({ method }) => String(method).endsWith("/streaming/part"));
  const report = "Current weather in New York:\nTemperature: 72° F\nConditions: Partly cloudy";
  const part = (token: string) => ({
    params: { token, block: "report", content: [{ type: "text", text: report }] },
  });

  test("003: an answer is streamed with `stream` in the params of tools/call, before the same result", async () => {
    const { send } = await drafting((app) => cityWeather(app, { streams: true }));
    const streamed = await send("003.12");
    expect(partsIn(streamed)).toMatchObject([part(String(played("003.12").id))]);
    const whole = await send("003.1");
    expect(streamed.result).toEqual(whole.result);
    expect(partsIn(whole)).toEqual([]);
  });

  test("003: a promise is streamed with `stream` beside the params of tasks/result, before its result", async () => {
    const slow = await drafting((app) => cityWeather(app, { isSlow: true, streams: true }));
    const live = taskIn(await slow.send("003.4"));
    const streamed = await slow.send("003.13", live);
    expect(partsIn(streamed).length).toBeGreaterThan(0);
    expect(JSON.stringify(partsIn(streamed))).toContain("Partly cloudy");
    expect(streamed.result).toMatchObject({
      content: [{ type: "text", text: report }],
      isError: false,
      _meta: about(live.taskId),
    });
  });

  const vm = { name: "provision-vm", arguments: { vmName: "web" }, task: { ttl: 60_000 } };
  const costs = { inputResponses: { costs: { action: "accept", content: {} } } };
  const provisioned = "VM 'web' provisioned successfully.";
  /** The tool without its wait of five minutes. */
  const quickVm: Register = (app) => provisionVm(app, { takesMs: 1 });

  test("004: a task is created after the question if the client requested one, and completes", async () => {
    const { peer } = await drafting(quickVm);
    const asked = await peer.ask("tools/call", vm);
    expect(asked.result).toMatchObject({ inputRequests: { costs: {} } });
    const made = await peer.ask("tools/call", { ...vm, ...costs, ...stateIn(asked) });
    const { taskId, status } = taskIn(made);
    expect(status).toBe("working");
    await untilTask(peer, taskId, "completed");
    expect((await peer.ask("tasks/result", { taskId })).result).toEqual({
      content: [{ type: "text", text: provisioned }],
      isError: false,
      _meta: about(taskId),
    });
  });

  test("004: without a requested task the tool runs in rounds, to its end or to a refusal", async () => {
    const { peer } = await drafting(quickVm);
    const { task: _, ...plain } = vm;
    const outcome = async (action: string) => {
      const asked = await peer.ask("tools/call", plain);
      const inputResponses = { costs: { action, ...(action === "accept" && { content: {} }) } };
      return peer.ask("tools/call", { ...plain, inputResponses, ...stateIn(asked) });
    };
    const text = (words: string) => ({ content: [{ type: "text", text: words }], isError: false });
    expect((await outcome("accept")).result).toEqual(text(provisioned));
    expect((await outcome("decline")).result).toEqual(text("Cancelled by user."));
  });

  test("004: if a task is requested but not created, the result is an ordinary one", async () => {
    const { peer } = await drafting(quickVm);
    const asked = await peer.ask("tools/call", vm);
    const inputResponses = { costs: { action: "decline" } };
    const done = await peer.ask("tools/call", { ...vm, inputResponses, ...stateIn(asked) });
    expect(done.result).toEqual({
      content: [{ type: "text", text: "Cancelled by user." }],
      isError: false,
    });
  });
});

describe("our client", () => {
  test("001: our client completes the draft's flows", async () => {
    const { app } = await servingWith({ drafts: drafts() }, weather, updateWorkItem, mixed, echo);
    const answers: Record<string, Record<string, string | number>> = {
      github_login: { name: "octocat" },
      resolution: { resolution: "Duplicate" },
      duplicate_of: { duplicateOfId: 4301 },
      echo_input: { input: "Hello World!" },
    };
    const connection = await connected(app, {
      era: "2026-06-XX",
      drafts: drafts(),
      elicit: ({ key }) => ({ action: "accept", content: answers[key] ?? {} }),
      sample: () => ({
        role: "assistant",
        content: { type: "text", text: "Paris." },
        model: "m",
      }),
    });
    const text = async (name: string, args?: Record<string, unknown>) =>
      (await connection.call(name, args)).text;
    expect(await text("get_weather", { location: "New York" })).toMatch(/72°F/);
    expect(
      await text("update_work_item", { workItemId: 4522, fields: { "System.State": "Resolved" } }),
    ).toMatch(/Duplicate of Bug #4301/);
    expect(await text("mixed")).toBe("octocat: Paris.");
    expect(await text("echo")).toBe("Echo: Hello World!");
  });
});
