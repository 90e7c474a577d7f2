// The official server that uses every feature of 2025-11-25, over both of its transports.

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { failure } from "../../src/client/failure.fixture.ts";
import { connect } from "../../src/client/index.ts";
import type {
  CallEvent,
  Connection,
  ConnectOptions,
  OpenQuestion,
} from "../../src/client/index.ts";
import { foreignCommand, foreignHttp } from "./foreign-server.ts";

const everything = "@modelcontextprotocol/server-everything/dist/index.js";

const asked: OpenQuestion[] = [];
const people: ConnectOptions = {
  elicit: (question) => {
    asked.push(question);
    if (question.kind === "url") return { action: "accept" };
    const fields = Object.keys(question.schema.properties);
    if (fields.includes("interpretation"))
      return { action: "accept", content: { interpretation: "snake" } };
    return { action: "accept", content: { name: "Ada Lovelace", email: "ada@example.com" } };
  },
  sample: ({ messages, maxTokens }) => ({
    role: "assistant",
    content: { type: "text", text: `heard ${messages.length}, may say ${maxTokens}` },
    model: "pocket",
  }),
  roots: [{ uri: "file:///home/ada", name: "home" }],
};

const ends: (() => unknown)[] = [];

const ways = {
  stdio: async () => foreignCommand(everything, "stdio"),
  http: async () => {
    const { url, end } = await foreignHttp(everything, ["streamableHttp"], "PORT");
    ends.push(end);
    return url;
  },
};

describe.each(["stdio", "http"] as const)("over %s", (way) => {
  let connection: Connection;
  beforeAll(async () => {
    connection = await connect(await ways[way](), people);
    ends.push(() => connection.close());
  });
  afterAll(async () => {
    for (const end of ends.splice(0).toReversed()) await end();
  });

  test("the newest revision of the server is used [C68]", () => {
    expect(connection.era).toBe("2025-11-25");
    expect(connection.server).toMatchObject({ name: "mcp-servers/everything" });
  });

  test("plain tools return text, structured content, an image, and a failure", async () => {
    expect((await connection.call("echo", { message: "hello" })).text).toBe("Echo: hello");
    expect((await connection.call("get-sum", { a: 2, b: 3 })).text).toContain("5");
    const weather = await connection.call("get-structured-content", { location: "Chicago" });
    expect(weather.data).toMatchObject({ temperature: 36, humidity: 82 });
    const { content } = await connection.call("get-tiny-image");
    expect(content.map(({ type }) => type)).toContain("image");
    const wrong = await connection.call("get-sum", { a: "two", b: 3 });
    expect(wrong.isError).toBe(true);
    const unknown = await connection.call("no-such-tool").catch((error) => error);
    expect(unknown.isError === true || unknown.code === "refused").toBe(true);
  });

  test("a form with every kind of field is filled in with its defaults", async () => {
    const { text } = await connection.call("trigger-elicitation-request");
    expect(text).toContain("Ada Lovelace");
    expect(text).toContain("ada@example.com");
    // These two were not filled in, so their defaults are sent.
    expect(text).toContain("It was a dark and stormy night.");
    expect(text).toContain("3.14");
  });

  test.each([false, true])(
    "a page is shown, and is not opened (asked by an error: %s)",
    async (errorPath) => {
      asked.length = 0;
      const url = `https://example.com/${way}/${errorPath}`;
      const { isError } = await connection.call("trigger-url-elicitation", { url, errorPath });
      expect(isError).not.toBe(true);
      // The variant that asks with an error first asks for a page of its own.
      expect(asked.map(({ kind }) => kind)).toEqual(errorPath ? ["url", "url"] : ["url"]);
      expect(asked.at(-1)).toMatchObject({ url, host: "example.com" });
    },
  );

  test("the client's model is asked", async () => {
    const args = { prompt: "Say something", maxTokens: 7 };
    const { text } = await connection.call("trigger-sampling-request", args);
    expect(text).toContain("heard 1, may say 7");
    expect(text).toContain("pocket");
  });

  test("the client's roots are requested", async () => {
    const { text } = await connection.call("get-roots-list");
    expect(text).toContain("file:///home/ada");
  });

  test("a long operation reports its progress", async () => {
    const call = connection.start("trigger-long-running-operation", { duration: 1, steps: 4 });
    const events: CallEvent[] = [];
    for await (const event of call) events.push(event);
    const progress = events.filter(({ type }) => type === "progress");
    expect(progress.at(-1)).toMatchObject({ done: 4, total: 4 });
    expect((await call.result()).text).toContain("completed");
  });

  test("a prompt, and resources of text and bytes, can be read", async () => {
    const { messages } = await connection.prompt("args-prompt", { city: "Rome", state: "Lazio" });
    expect(messages).toMatchObject([{ content: { text: "What's weather in Rome, Lazio?" } }]);
    const text = await connection.read("demo://resource/dynamic/text/1");
    expect(text.contents).toMatchObject([{ uri: "demo://resource/dynamic/text/1" }]);
    const blob = await connection.read("demo://resource/dynamic/blob/1");
    expect(blob.contents).toMatchObject([{ blob: expect.any(String) }]);
    expect(await failure(connection.read("demo://nothing"))).toMatchObject({ code: "refused" });
  });

  test("a task asks in the middle", async () => {
    const args = { topic: "python", ambiguous: true };
    const call = connection.start("simulate-research-query", args);
    const types: string[] = [];
    for await (const { type } of call) types.push(type);
    expect(types.filter((type) => type !== "progress")).toEqual([
      "task",
      "asked",
      "answered",
      "done",
    ]);
    expect((await call.result()).text).toContain("python (snake)");
  });

  test("of two tasks at once, one can be cancelled", async () => {
    const kept = connection.call("simulate-research-query", { topic: "rust" });
    const dropped = connection.start("simulate-research-query", { topic: "go" });
    for await (const { type } of dropped) if (type === "task") break;
    await dropped.cancel();
    expect(await failure(dropped.result())).toMatchObject({ code: "cancelled" });
    expect((await kept).text).toContain("Research Report: rust");
  });
});
