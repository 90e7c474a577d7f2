// The flows of the documents on the wire as they are printed, in the dialect of the draft. What is the server's to choose
// (tokens, ids, times, how often to poll, the words of a status) is that of the running call; all else is as printed.

import { describe, expect, test } from "vitest";
import { echo } from "../../examples/seeds/echo.ts";
import { mixed } from "../../examples/seeds/mixed.ts";
import { provisionVm } from "../../examples/seeds/provision-vm.ts";
import { cityWeather, weather } from "../../examples/seeds/weather.ts";
import { updateWorkItem } from "../../examples/seeds/work-item.ts";
import { answerIn, draftOverHttp, postDraft, taskIn, untilTask } from "../draft/peer.ts";
import type { Answer } from "../draft/peer.ts";
import { golden } from "./golden.ts";
import { connected, servingWith } from "./serving.ts";
import type { Register } from "./serving.ts";

type Members = Readonly<Record<string, unknown>>;

interface Live {
  readonly requestState?: unknown;
  readonly taskId?: string;
}

/** Someone who speaks the draft with a server of these tools. */
async function drafting(...tools: Register[]) {
  const { app } = await servingWith({ drafts: true }, ...tools);
  const peer = await draftOverHttp(app);
  const headers = { "mcp-session-id": peer.sessionId };
  const post = (message: object) => postDraft(app, message, headers);
  return {
    peer,
    post,
    /** A message as it is printed, under its printed id. */
    send: async (name: string, live: Live = {}): Promise<Answer> => {
      const message = golden(name);
      const answer = answerIn(await post({ ...message, params: withLive(message.params, live) }));
      expect(answer.id).toBe(message.id);
      expect(answer.result ?? {}).not.toHaveProperty("resultType");
      return answer;
    },
  };
}

function withLive(params: Members = {}, { requestState, taskId }: Live): Members {
  return {
    ...params,
    ...(requestState === undefined ? {} : { requestState }),
    ...("taskId" in params ? { taskId } : {}),
    ...("_meta" in params ? { _meta: about(taskId) } : {}),
  };
}

const about = (taskId: unknown) => ({ "io.modelcontextprotocol/related-task": { taskId } });
const time: unknown = expect.stringMatching(/^\d{4}-\d\d-\d\dT/);

/** A printed result, with matchers for what is the server's. */
function result(name: string, { taskId }: Live = {}): Members {
  const { requestState, isError, task, _meta, ...rest } = golden(name).result ?? {};
  return {
    ...("taskId" in rest ? statusOf(rest, taskId) : rest),
    ...(task === undefined ? {} : { task: statusOf({ ...task }, expect.any(String)) }),
    ...(requestState === undefined ? {} : { requestState: expect.any(String) as unknown }),
    // Absent is false.
    ...(isError === true ? { isError } : {}),
    ...(_meta === undefined ? {} : { _meta: about(taskId) }),
  };
}

function statusOf({ status, ttl }: Members, taskId: unknown): Members {
  const number: unknown = expect.any(Number);
  return {
    taskId,
    status,
    createdAt: time,
    lastUpdatedAt: time,
    // What is done is kept for a while, whenever it is done.
    ttl: status === "completed" ? number : ttl,
    pollInterval: number,
  };
}

const stateIn = ({ result: given }: Answer): Live => ({ requestState: given?.["requestState"] });

describe("rounds", () => {
  test("001: the weather tool, as printed", async () => {
    const { send } = await drafting(weather);
    const asked = await send("001.4");
    expect(asked.result).toMatchObject(result("001.5"));
    const done = await send("001.6", stateIn(asked));
    expect(done.result).toEqual(result("001.7"));
  });

  test("001: Azure DevOps, as printed", async () => {
    const { send } = await drafting(updateWorkItem);
    const first = await send("001.8");
    expect(first.result).toMatchObject(result("001.9"));
    // There was a state with the question, so the client echoes it.
    const second = await send("001.10", stateIn(first));
    expect(second.result).toMatchObject(result("001.11"));
    const done = await send("001.12", stateIn(second));
    expect(done.result).toEqual(result("001.13"));
  });

  test("001: data nobody asked for is ignored, as printed", async () => {
    const { send } = await drafting(weather);
    expect((await send("001.26")).result).toMatchObject(result("001.27"));
  });

  test("001: the form and the completion in one round, as printed", async () => {
    const { peer } = await drafting(mixed);
    const asked = await peer.ask("tools/call", { name: "mixed" });
    expect(asked.result).toMatchObject({ inputRequests: golden("001.30")["inputRequests"] });
    const { inputResponses } = golden("001.31");
    const params = { name: "mixed", inputResponses, ...stateIn(asked) };
    expect((await peer.ask("tools/call", params)).result).toEqual({
      content: [{ type: "text", text: "octocat: The capital of France is Paris." }],
    });
  });
});

describe("tasks", () => {
  test("001: the echo tool's task, as printed", async () => {
    const { send, peer } = await drafting(echo);
    const created = await send("001.14");
    expect(created.result).toEqual(result("001.15"));
    const live = taskIn(created);
    await untilTask(peer, live.taskId, "input_required");
    expect((await send("001.16", live)).result).toEqual(result("001.17", live));
    expect((await send("001.18", live)).result).toEqual(result("001.19", live));
    expect((await send("001.20", live)).result).toEqual(result("001.21", live));
    await untilTask(peer, live.taskId, "completed");
    expect((await send("001.22", live)).result).toEqual(result("001.23", live));
    expect((await send("001.24", live)).result).toEqual(result("001.25", live));
  });

  test("001: data nobody asked for leaves the task waiting, as printed", async () => {
    const { send, peer } = await drafting(echo);
    const live = taskIn(await send("001.14"));
    await untilTask(peer, live.taskId, "input_required");
    expect((await send("001.28", live)).result).toEqual(result("001.29", live));
    expect((await send("001.16", live)).result).toEqual(result("001.17", live));
    expect((await send("001.18", live)).result).toMatchObject(result("001.19", live));
    await send("001.3", live);
    await untilTask(peer, live.taskId, "completed");
  });

  test("000: the echo tool, as printed but for its slips", async () => {
    const { send, post, peer } = await drafting(echo);
    const created = await send("000.1");
    // Of its results the words for the status are slips: those of 001, which has the same flow, are meant.
    expect(created.result).toEqual(result("001.15"));
    const live = taskIn(created);
    await untilTask(peer, live.taskId, "input_required");
    expect((await send("000.3", live)).result).toEqual(result("001.17", live));
    const { method, params } = golden("000.6");
    expect((await send("000.5", live)).result).toEqual({
      inputRequests: { echo_input: { method, params } },
      _meta: about(live.taskId),
    });
    // A response nobody has asked for is refused; what it says is said by a request.
    const answer = golden("000.7");
    expect(await post(answer)).toMatchObject({ status: 400 });
    const { action, content } = answer.result ?? {};
    const inputResponses = { echo_input: { action, content } };
    await peer.ask("tasks/input_response", { inputResponses, _meta: about(live.taskId) });
    await untilTask(peer, live.taskId, "completed");
    expect((await send("000.8", live)).result).toEqual(result("001.23", live));
    expect((await send("000.10", live)).result).toEqual(result("000.11", live));
  });

  test("003: a promise, as printed", async () => {
    const { send } = await drafting((app) => cityWeather(app, { isSlow: true }));
    expect((await send("003.4")).result).toEqual(result("003.5"));
  });

  test("003: answers, as printed", async () => {
    const fine = await drafting((app) => cityWeather(app, {}));
    const { result: done } = await fine.send("003.1");
    expect(JSON.stringify(done)).toContain("Partly cloudy");
    const down = await drafting((app) => cityWeather(app, { isDown: true }));
    expect((await down.send("003.1")).result).toEqual(result("003.3"));
  });

  test("004: a task is made after the question, where the client wished for one, and never without", async () => {
    const { peer } = await drafting(provisionVm);
    const call = { name: "provision-vm", arguments: { vmName: "web" }, task: { ttl: 60_000 } };
    const asked = await peer.ask("tools/call", call);
    expect(asked.result).toMatchObject({ inputRequests: { costs: {} } });
    const inputResponses = { costs: { action: "accept", content: {} } };
    const made = await peer.ask("tools/call", { ...call, inputResponses, ...stateIn(asked) });
    expect(taskIn(made)).toMatchObject({ status: "working" });
    const { task: _, ...plain } = call;
    const again = await peer.ask("tools/call", plain);
    const inline = await peer.ask("tools/call", {
      ...plain,
      inputResponses: { costs: { action: "decline" } },
      ...stateIn(again),
    });
    expect(inline.result).toEqual({ content: [{ type: "text", text: "Cancelled by user." }] });
  });
});

describe("our client", () => {
  test("001: our client drives the draft's flows to their ends", async () => {
    const { app } = await servingWith({ drafts: true }, weather, updateWorkItem, mixed, echo);
    const answers: Record<string, Record<string, string | number>> = {
      github_login: { name: "octocat" },
      resolution: { resolution: "Duplicate" },
      duplicate_of: { duplicateOfId: 4301 },
      echo_input: { input: "Hello World!" },
    };
    const connection = await connected(app, {
      era: "2026-06-XX",
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
