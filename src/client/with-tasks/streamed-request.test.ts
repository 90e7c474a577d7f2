// `onPart` of `withTasks`: a plain official client sees what tools stream.

import type { RequestId } from "@modelcontextprotocol/client";
import { expect, test } from "vitest";
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
