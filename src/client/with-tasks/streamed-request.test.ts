// `onPart` of `withTasks`: a plain official client sees what tools stream.

import type { RequestId } from "@modelcontextprotocol/client";
import { beforeEach, describe, expect, test, vi } from "vitest";
import {
  partNotification,
  readStreamsMethod,
  streamingExtension,
  streamTokenIn,
} from "../../protocol/streaming.ts";
import type { Part } from "../index.ts";
import {
  asks,
  completed,
  connected,
  created,
  PretendServer,
  task,
  textIn,
} from "./with-tasks.fixture.ts";
import type { Answer, Said } from "./with-tasks.fixture.ts";

const call = { name: "long", arguments: {} };
const ok: Answer = { result: { resultType: "complete", content: [{ type: "text", text: "ok" }] } };

/** Sends text of a block under the token of this request. */
const say = (server: PretendServer, params: Said, block: string, text: string, more: Said = {}) => {
  const token = streamTokenIn(params["_meta"]);
  const content = [{ type: "text", text }];
  server.say({ method: partNotification, params: { token, block, content, ...more } });
};

function listener() {
  const parts: string[] = [];
  const requests = new Set<RequestId>();
  const onPart = ({ op, block, text }: Part, request: RequestId) => {
    parts.push(`${op} ${block} ${text}`.trim());
    requests.add(request);
  };
  return { parts, requests, onPart };
}

test("parts of a round reach onPart, and are taken back if there is no result", async () => {
  const { parts, requests, onPart } = listener();
  const server: PretendServer = new PretendServer({
    "tools/call": (params, nth) => {
      say(server, params, "draft", "one");
      say(server, { _meta: { [streamingExtension]: { token: "other" } } }, "draft", "foreign");
      return nth === 1 ? ok : { error: { code: -32_603, message: "no" } };
    },
  });
  const { client } = await connected(server, { onPart });
  expect(textIn(await client.callTool(call))).toBe("ok");
  expect(parts).toEqual(["append draft one"]);
  await expect(client.callTool(call)).rejects.toThrow("no");
  expect(parts.slice(1)).toEqual(["append draft one", "reset draft"]);
  expect(requests.size).toBe(2);
  const tokens = server.of("tools/call").map(({ params }) => streamTokenIn(params?._meta));
  expect(new Set(tokens).size).toBe(2);
});

test("parts of a task reach onPart, through a question and after the cursor", async () => {
  const { parts, onPart } = listener();
  const taskNow = { isAnswered: false, isOver: false };
  const now = () => {
    if (taskNow.isOver) return completed("ok");
    return taskNow.isAnswered ? task("working", { pollIntervalMs: 1 }) : asks("name");
  };
  const server: PretendServer = new PretendServer({
    "tools/call": (params) => {
      say(server, params, "intro", "Hello. ");
      return created({ pollIntervalMs: 1 });
    },
    "tasks/get": now,
    "tasks/update": () => {
      taskNow.isAnswered = true;
      return { result: { resultType: "complete" } };
    },
    [readStreamsMethod]: (params) => {
      if (!taskNow.isAnswered) say(server, params, "draft", "One. ");
      else {
        say(server, params, "end", `after ${String(params["after"])}`);
        taskNow.isOver = true;
      }
      const answer = now();
      const result = answer !== undefined && "result" in answer ? answer.result : {};
      return { result: { ...result, cursor: "c1" } };
    },
  });
  const { client, shown } = await connected(server, { onPart });
  expect(textIn(await client.callTool(call))).toBe("ok");
  expect(shown).toEqual(["name"]);
  expect(parts).toEqual(["append intro Hello.", "append draft One.", "append end after c1"]);
});

test("without onPart, no parts are requested; an onPart that throws is reported and does not end the call", async () => {
  const server: PretendServer = new PretendServer({
    "tools/call": (params) => {
      if (streamTokenIn(params["_meta"]) !== undefined) say(server, params, "draft", "one");
      return ok;
    },
  });
  const plain = await connected(server);
  expect(textIn(await plain.client.callTool(call))).toBe("ok");
  expect(JSON.stringify(server.of("tools/call"))).not.toContain(streamingExtension);
  const onPart = () => {
    throw new Error("mine");
  };
  const { client, errors } = await connected(server, { onPart });
  expect(textIn(await client.callTool(call))).toBe("ok");
  expect(errors.map(({ cause }) => cause)).toEqual([new Error("mine")]);
});

describe("with a clock that the test moves", () => {
  beforeEach(() => {
    vi.useFakeTimers();
    return () => vi.useRealTimers();
  });

  test("a reading that never ends delays the result of its task by five seconds, once", async () => {
    const { parts, onPart } = listener();
    const server: PretendServer = new PretendServer({
      "tools/call": () => created({ pollIntervalMs: 1 }),
      "tasks/get": () => completed("ok"),
      [readStreamsMethod]: (params) => {
        say(server, params, "draft", "half");
        return undefined;
      },
    });
    const { client } = await connected(server, { onPart, listen: false });
    const calling = client.callTool(call).then(textIn);
    await vi.advanceTimersByTimeAsync(5_100);
    expect(await Promise.race([calling, Promise.resolve("nothing yet")])).toBe("ok");
    expect(parts).toEqual(["append draft half", "reset draft"]);
    expect(server.of(readStreamsMethod)).toHaveLength(1);
    expect(vi.getTimerCount()).toBe(0);
  });
});

test("parts under a token that is not ours are the client's own, in rounds and while a task is read", async () => {
  const { parts, onPart } = listener();
  const foreign = { _meta: { [streamingExtension]: { token: "mine" } } };
  const server: PretendServer = new PretendServer({
    "tools/call": () => {
      say(server, foreign, "round", "1");
      return created({ pollIntervalMs: 1 });
    },
    "tasks/get": () => completed("ok"),
    [readStreamsMethod]: (params) => {
      say(server, foreign, "task", "2");
      // The token of the call is no longer in use when its task is read.
      say(server, server.of("tools/call")[0]?.params ?? {}, "late", "3");
      say(server, params, "draft", "ours");
      return { result: { ...(completed("ok") as { result: Said }).result, cursor: "c" } };
    },
  });
  const { client } = await connected(server, { onPart });
  const heard: unknown[] = [];
  client.fallbackNotificationHandler = async ({ params }) => void heard.push(params);
  expect(textIn(await client.callTool(call))).toBe("ok");
  expect(parts).toEqual(["append draft ours"]);
  expect(heard).toMatchObject([
    { token: "mine", block: "round" },
    { token: "mine", block: "task" },
  ]);
});
