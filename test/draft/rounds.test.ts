// Rounds in the draft: an incomplete result has no `resultType`, and the retry has its answers in `params`.

import { afterAll, describe, expect, onTestFinished, test } from "vitest";
import { drafts } from "mcp-parley/drafts";
import { accept } from "../wire/post.ts";
import { till } from "../wire/till.ts";
import type { Answer, DraftPeer } from "./peer.ts";
import {
  answerIn,
  draftOverHttp,
  draftOverStdio,
  endStdio,
  draftVersion,
  everything,
  postDraft,
  said,
} from "./peer.ts";

afterAll(endStdio);

const ways: [string, (capabilities?: object) => Promise<DraftPeer>][] = [
  [
    "HTTP",
    async (capabilities) => {
      const { app } = till({ drafts: drafts() });
      const { url } = await app.listen(0);
      onTestFinished(() => app.close());
      return draftOverHttp(url, capabilities);
    },
  ],
  ["stdio", (capabilities) => draftOverStdio("till", capabilities)],
];

const stateIn = ({ result }: Answer) => result?.["requestState"];
const sampled = { role: "assistant", content: { type: "text", text: "onwards" }, model: "m" };

describe.each(ways)("over %s", (_, open) => {
  test("the draft is negotiated, with its own capabilities and nothing else", async () => {
    const { opened, ask } = await open();
    expect(opened.result).toEqual({
      protocolVersion: draftVersion,
      capabilities: { tools: {}, prompts: {}, resources: {} },
      serverInfo: { name: "till", version: "1.0.0" },
    });
    expect((await ask("ping")).result).toEqual({});
    const { result } = await ask("tools/list");
    expect(result?.["tools"]).toContainEqual(expect.objectContaining({ name: "pay" }));
    expect(result).not.toHaveProperty("resultType");
  });

  test("`stream: {}` in the params gets parts, under the id of the request", async () => {
    const { ask } = await open();
    const call = { name: "dictate", arguments: {} };
    const content = [{ type: "text", text: "one two" }];
    const { id, result, notifications } = await ask("tools/call", { ...call, stream: {} });
    expect(result).toEqual({ content, isError: false });
    expect(notifications).toEqual([
      {
        jsonrpc: "2.0",
        method: "notifications/io.github.mcp-parley/streaming/part",
        params: { token: String(id), block: "words", content },
      },
    ]);
    expect((await ask("tools/call", call)).notifications ?? []).toEqual([]);
  });

  test("one round returns the questions and then the result, neither with a type", async () => {
    const { ask } = await open();
    const call = { name: "pay", arguments: { amount: 5 } };
    const asked = await ask("tools/call", call);
    expect(asked.result).toEqual({
      inputRequests: {
        sure: {
          method: "elicitation/create",
          params: {
            mode: "form",
            message: "Pay 5?",
            requestedSchema: { type: "object", properties: {} },
          },
        },
      },
      requestState: expect.any(String) as string,
    });
    const done = await ask("tools/call", {
      ...call,
      inputResponses: { sure: { action: "accept" } },
      requestState: stateIn(asked),
    });
    expect(done.result).toEqual(said("nobody paid 5"));
  });

  test("each of several rounds brings only its own answers", async () => {
    const { ask } = await open();
    const name = "form_then_sample";
    const first = await ask("tools/call", { name });
    const second = await ask("tools/call", {
      name,
      inputResponses: { name: accept({ name: "Ada" }) },
      requestState: stateIn(first),
    });
    expect(second.result?.["inputRequests"]).toMatchObject({
      motto: { method: "sampling/createMessage" },
    });
    const done = await ask("tools/call", {
      name,
      inputResponses: { motto: sampled },
      requestState: stateIn(second),
    });
    expect(done.result).toEqual(said("onwards"));
  });

  test("a state without questions is sent back at once", async () => {
    const { ask } = await open();
    const first = await ask("tools/call", { name: "halves" });
    expect(Object.keys(first.result ?? {})).toEqual(["requestState"]);
    const done = await ask("tools/call", { name: "halves", requestState: stateIn(first) });
    expect(done.result).toEqual(said("both"));
  });

  test("one round can ask every kind of question", async () => {
    const { ask } = await open();
    const asked = await ask("tools/call", { name: "every_kind" });
    const requests = asked.result?.["inputRequests"] as Record<string, { method: string }>;
    expect(Object.values(requests).map(({ method }) => method)).toEqual([
      "elicitation/create",
      "elicitation/create",
      "elicitation/create",
      "elicitation/create",
      "sampling/createMessage",
      "roots/list",
    ]);
    const [form, by, sure, page, motto, roots] = Object.keys(requests) as [string, ...string[]];
    const done = await ask("tools/call", {
      name: "every_kind",
      inputResponses: {
        [form]: accept({ name: "Ada", extras: [], news: true }),
        [String(by)]: accept({ by: "Cash" }),
        [String(sure)]: accept(),
        [String(page)]: { action: "accept" },
        [String(motto)]: sampled,
        [String(roots)]: { roots: [{ uri: "file:///home/ada" }] },
      },
      requestState: stateIn(asked),
    });
    expect(JSON.stringify(done.result)).toContain("onwards");
  });

  test("an answer that was not asked for is ignored, and the question is asked again", async () => {
    const { ask } = await open();
    const asked = await ask("tools/call", { name: "age" });
    for (const inputResponses of [
      { not_requested_info: accept({ not_requested_param_name: "?" }) },
      { age: accept({ not_requested_parameter: "?" }) },
      {},
    ]) {
      const again = await ask("tools/call", {
        name: "age",
        inputResponses,
        requestState: stateIn(asked),
      });
      expect(again.result).toMatchObject({
        inputRequests: { age: { method: "elicitation/create" } },
      });
    }
    // Without the state, the retry is a new call.
    const { result } = await ask("tools/call", {
      name: "age",
      inputResponses: { not_requested_info: accept() },
    });
    expect(result).toMatchObject({ inputRequests: { age: {} } });
  });

  test("prompts and resources can ask, too", async () => {
    const { ask } = await open();
    const prompt = { name: "letter", arguments: { tone: "kind" } };
    const asked = await ask("prompts/get", prompt);
    expect(asked.result).not.toHaveProperty("resultType");
    const { result } = await ask("prompts/get", {
      ...prompt,
      inputResponses: { to: accept({ to: "Bob" }) },
      requestState: stateIn(asked),
    });
    expect(result).toMatchObject({ messages: [{ content: { text: "A kind letter to Bob" } }] });
    const read = await ask("resources/read", { uri: "diary://today" });
    const done = await ask("resources/read", {
      uri: "diary://today",
      inputResponses: { mood: accept({ mood: "good" }) },
      requestState: stateIn(read),
    });
    expect(done.result).toMatchObject({ contents: [{ text: "a good day" }] });
  });

  test("a client that cannot be asked is not asked, and its capabilities hold for the whole session", async () => {
    const { ask } = await open({ sampling: {} });
    const { error } = await ask("tools/call", { name: "age" });
    expect(error).toMatchObject({
      code: -32021,
      data: { requiredCapabilities: { elicitation: { form: {} } } },
    });
    const { result } = await ask("tools/call", { name: "chooser" });
    expect(result).toMatchObject({ inputRequests: { name: { method: "sampling/createMessage" } } });
  });

  const saying = (declared: object) => ({
    _meta: { "io.modelcontextprotocol/clientCapabilities": declared },
  });

  test("a request may declare other capabilities than its session, for itself alone", async () => {
    const { ask } = await open({ sampling: {} });
    const name = "form_then_sample";
    const forms = saying({ elicitation: {} });
    const first = await ask("tools/call", { name, ...forms });
    expect(first.result).toMatchObject({ inputRequests: { name: {} } });
    // What the session declared still counts.
    const inputResponses = { name: accept({ name: "Ada" }) };
    const retry = { name, inputResponses, requestState: stateIn(first), ...forms };
    expect((await ask("tools/call", retry)).result).toMatchObject({
      inputRequests: { motto: { method: "sampling/createMessage" } },
    });
    expect((await ask("tools/call", { name: "age" })).error?.code).toBe(-32021);
    // A capability that the request declares replaces the session's.
    const other = await open({ elicitation: { form: {} } });
    const pages = saying({ elicitation: { url: {} } });
    expect((await other.ask("tools/call", { name: "age", ...pages })).error?.code).toBe(-32021);
    expect((await other.ask("tools/call", { name: "age" })).result).toHaveProperty("requestState");
  });

  test("malformed answers and states are refused with a message", async () => {
    const { ask } = await open();
    const refused = [{ inputResponses: [] }, { requestState: "forged" }, { requestState: 7 }];
    for (const more of refused) {
      const { error } = await ask("tools/call", { name: "age", ...more });
      expect(error).toMatchObject({ code: -32602, message: expect.any(String) as string });
    }
  });

  test("a tool that fails says so in its result, and an invalid request is an error", async () => {
    const { ask } = await open();
    expect((await ask("tools/call", { name: "pay", arguments: {} })).result).toMatchObject({
      isError: true,
    });
    expect((await ask("tools/call", { name: "nothing" })).error?.code).toBe(-32602);
    expect((await ask("no/such")).error?.code).toBe(-32601);
  });

  test("notifications arrive before the response", async () => {
    const { ask } = await open();
    const { notifications } = await ask("tools/call", {
      name: "tells",
      _meta: { progressToken: "p" },
    });
    expect(notifications).toMatchObject([
      { method: "notifications/progress", params: { progressToken: "p", progress: 2 } },
    ]);
  });

  test("the methods that 2026-07-28 has instead do not exist in the draft", async () => {
    const { ask } = await open();
    for (const method of ["server/discover", "subscriptions/listen", "tasks/update"]) {
      expect((await ask(method)).error).toEqual({ code: -32601, message: "Method not found" });
    }
  });
});

test("rounds and their session may go to instances that share only the key", async () => {
  const [one, other] = [till({ drafts: drafts() }).app, till({ drafts: drafts() }).app];
  const here = await draftOverHttp(one);
  const asked = await here.ask("tools/call", { name: "age" });
  const params = {
    name: "age",
    inputResponses: { age: accept({ age: 30 }) },
    requestState: stateIn(asked),
  };
  const { text } = await postDraft(
    other,
    { jsonrpc: "2.0", id: 1, method: "tools/call", params },
    { "mcp-session-id": here.sessionId },
  );
  expect(JSON.parse(text)).toMatchObject({ result: { content: [{ text: "30" }] } });
  await Promise.all([one.close(), other.close()]);
});

test("a handler sees the caller as it does in 2026-07-28", async () => {
  const { app } = till({ drafts: drafts() });
  const { ask } = await draftOverHttp(app, everything, { "x-tenant": "acme" });
  const { result } = await ask("tools/call", { name: "facts", _meta: { own: 1 } });
  const [block] = Array.isArray(result?.["content"]) ? result["content"] : [];
  expect(JSON.parse(block.text)).toMatchObject({
    clientInfo: { name: "by hand", version: "1.0.0" },
    header: "acme",
    meta: { own: 1 },
  });
  await app.close();
});

test("`stream: {}` beside the params gets parts as well, over HTTP", async () => {
  const { app } = till({ drafts: drafts() });
  const { url } = await app.listen(0);
  onTestFinished(() => app.close());
  const call = { method: "tools/call", params: { name: "dictate", arguments: {} } };
  const posted = await postDraft(url, { jsonrpc: "2.0", id: 7, ...call, stream: {} });
  const { notifications } = answerIn(posted);
  expect(notifications).toMatchObject([{ params: { token: "7", block: "words" } }]);
});
