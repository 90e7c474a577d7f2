// Streams in the test kit: what the client holds, and that nothing that gets lost changes it.

import { parley, memoryStore } from "mcp-parley";
import { crashTest, play } from "mcp-parley/testing";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { HeldStreams } from "./held-streams.ts";

const app = () =>
  parley({ name: "press", version: "1.0.0", store: memoryStore(), auth: undefined });

/** Streams, asks, streams again, and goes on in the background if it can. */
function report() {
  let tries = 0;
  return app().tool("report", { task: "optional" }, async (ctx) => {
    const draft = await ctx.stream("draft", async function* () {
      yield "Revenue ";
      yield "grew. ";
    });
    const by = await ctx.ask("by", "By how much?", z.string());
    await ctx.background();
    const middle = await ctx.stream(
      "middle",
      async function* () {
        tries += 1;
        yield tries % 2 === 1 ? "Wrong" : "It grew ";
        // What is yielded in one turn goes out together.
        await new Promise((resolve) => setImmediate(resolve));
        if (tries % 2 === 1) throw new Error("again");
        yield `by ${by}.`;
      },
      { retries: 1, backoffMs: 1 },
    );
    await ctx.emit("chart", { type: "image", data: "AA==", mimeType: "image/png" });
    const sure = await ctx.confirm("sure", "Sure?");
    const list = await ctx.stream(
      "list",
      async function* () {
        yield { type: "text", text: "one" };
        yield { type: "text", text: String(sure) };
      },
      { blocks: true },
    );
    return `${draft}${middle}${list.length}`;
  });
}

const script = { by: "5 %", sure: true };

describe("play", () => {
  test.each(["modern", "task"] as const)("a %s client holds what was recorded", async (client) => {
    const call = await play(report(), {}, script, { client });
    expect(call.text).toBe("Revenue grew. It grew by 5 %.2");
    expect(call.streamed("draft")).toEqual({
      text: "Revenue grew. ",
      content: [{ type: "text", text: "Revenue grew. " }],
    });
    expect(call.streamed("middle").text).toBe("It grew by 5 %.");
    expect(call.streamed("chart").content).toEqual([
      { type: "image", data: "AA==", mimeType: "image/png" },
    ]);
    expect(call.streamed("list").text).toBe("onetrue");
    expect(call.streamed("by")).toEqual({ text: "", content: [] });
  });

  test("a client that takes no streams holds nothing, and the result is the same", async () => {
    const call = await play(report(), {}, script, { client: { can: ["form"] } });
    expect(call.text).toBe("Revenue grew. It grew by 5 %.2");
    expect(call.streamed("draft").text).toBe("");
  });
});

describe("crashTest", () => {
  const mayRepeat = ["draft", "middle", "chart", "list"];

  test.each(["modern", "task"] as const)(
    "whatever gets lost, a %s client holds what was recorded",
    async (client) => {
      const { plays } = await crashTest(report(), {}, script, { client, mayRepeat });
      expect(plays).toBeGreaterThan(10);
    },
  );

  test("a client that follows tasks and takes no streams holds nothing, and passes", async () => {
    const client = { can: ["form", "task"] } as const;
    const call = await play(report(), {}, script, { client });
    expect([call.streamed("draft").text, call.streamed("middle").text]).toEqual(["", ""]);
    const { plays } = await crashTest(report(), {}, script, { client, mayRepeat });
    expect(plays).toBeGreaterThan(10);
  });

  test("with once, a request that is sent twice leaves no half of a stream", async () => {
    const tool = app().tool("report", { once: true }, async (ctx) => {
      const draft = await ctx.stream("draft", async function* () {
        yield "Revenue ";
        yield "grew.";
      });
      return `${draft} ${await ctx.ask("by", "By how much?", z.string())}`;
    });
    await crashTest(tool, {}, script, { mayRepeat: ["draft"] });
  });

  test("a client that holds something else is a problem", () => {
    const response = { kind: "complete", result: { content: [] } } as const;
    const held = (text: string | undefined) => {
      const streams = new HeldStreams();
      const parts =
        text === undefined ? [] : [{ block: "draft", content: [{ type: "text", text } as const] }];
      const outcomes = new Map([["draft", "whole"]]);
      streams.round({ response, parts, outcomes, executions: [], replayed: [] });
      return streams;
    };
    const model = held("whole");
    expect(model.problems(model)).toEqual([]);
    expect(held("who").problems(model)).toEqual([
      'the client holds [{"type":"text","text":"who"}] of stream "draft", but [{"type":"text","text":"whole"}] was recorded.',
    ]);
    expect(held(undefined).problems(model)).toHaveLength(1);
  });
});
