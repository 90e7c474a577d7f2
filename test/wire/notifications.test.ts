// What a handler reports while it works, on the stream of its own request.

import { parley } from "mcp-parley";
import { describe, expect, onTestFinished, test } from "vitest";
import { overEntry } from "../entry.ts";
import { keys, quiet } from "../interop/errands.ts";
import { accept, callTool, envelope, post, textIn, tokenIn } from "./post.ts";
import type { Answer } from "./post.ts";

/** A tool that reports progress before and after each of two questions. */
async function telling(): Promise<string> {
  const app = parley({ name: "telling", version: "1.0.0", keys, logger: quiet });
  app.tool("tell", {}, async (ctx) => {
    ctx.progress(1, 4, "begun");
    ctx.log("info", { at: "begun" });
    await ctx.ask("one", "One?");
    ctx.progress(2, 4);
    ctx.log("warning", "between");
    await ctx.ask("other", "Other?");
    ctx.progress(3, 4);
    ctx.progress(3, 4, "no more than before");
    ctx.progress(2.5, 4, "less");
    ctx.progress(4, 4);
    ctx.log("debug", "done");
    return "told";
  });
  onTestFinished(() => app.close());
  return (await app.listen(0, overEntry())).url;
}

const level = (least: string) => ({ "io.modelcontextprotocol/logLevel": least });

/** The three rounds of `tell`, each with this in its envelope. */
async function rounds(to: string, meta: Record<string, unknown>): Promise<Answer[]> {
  const first = await callTool(to, "tell", {}, { meta });
  const second = await callTool(
    to,
    "tell",
    {},
    {
      meta,
      requestState: tokenIn(first),
      inputResponses: { one: accept({ one: "1" }) },
    },
  );
  const third = await callTool(
    to,
    "tell",
    {},
    {
      meta,
      requestState: tokenIn(second),
      inputResponses: { other: accept({ other: "2" }) },
    },
  );
  return [first, second, third];
}

const told = (answers: readonly Answer[], method: string) =>
  answers.map(({ notifications }) =>
    notifications.filter((one) => one.method === method).map(({ params }) => params),
  );

describe("progress", () => {
  test("is sent at once, strictly increasing, and not again during a replay [S70]", async () => {
    const answers = await rounds(await telling(), { progressToken: "p" });
    expect(told(answers, "notifications/progress")).toEqual([
      [{ progressToken: "p", progress: 1, total: 4, message: "begun" }],
      [{ progressToken: "p", progress: 2, total: 4 }],
      [
        { progressToken: "p", progress: 3, total: 4 },
        { progressToken: "p", progress: 4, total: 4 },
      ],
    ]);
    expect(textIn(answers[2]!)).toBe("told");
  });

  test("names the token of its request, a number or a string [S57] [S70]", async () => {
    const to = await telling();
    const first = await callTool(to, "tell", {}, { meta: { progressToken: 1 } });
    const leg = { requestState: tokenIn(first), inputResponses: { one: accept({ one: "1" }) } };
    const second = await callTool(to, "tell", {}, { ...leg, meta: { progressToken: "b" } });
    expect(first.notifications.map(({ params }) => params["progressToken"])).toEqual([1]);
    expect(second.notifications.map(({ params }) => params["progressToken"])).toEqual(["b"]);
  });

  test("is not sent to a client that did not ask for it, whose response is plain JSON [S40] [S70]", async () => {
    const [first] = await rounds(await telling(), {});
    expect(first?.notifications).toEqual([]);
    expect(first?.headers.get("content-type")).toBe("application/json");
  });
});

describe("the stream", () => {
  test("ends with the result, is not buffered by proxies, and nothing follows it [S40] [S58]", async () => {
    const to = await telling();
    const meta = { progressToken: "p" };
    const response = await post(
      to,
      envelope("tools/call", { name: "tell", arguments: {} }, { meta }),
    );
    expect(response.headers.get("content-type")).toBe("text/event-stream");
    expect(response.headers.get("x-accel-buffering")).toBe("no");
    const frames = (await response.text()).trim().split("\n\n");
    expect(frames).toHaveLength(2);
    expect(frames.at(-1)).toContain('"resultType":"input_required"');
  });

  test("carries no request of the server [S13]", async () => {
    const answers = await rounds(await telling(), { progressToken: "p", ...level("debug") });
    for (const { notifications } of answers) {
      for (const message of notifications) {
        expect(message).not.toHaveProperty("id");
        expect(message.method).toMatch(/^notifications\//);
      }
    }
  });
});

describe("the log", () => {
  test("is silent if the request set no level [S71]", async () => {
    const answers = await rounds(await telling(), { progressToken: "p" });
    expect(told(answers, "notifications/message")).toEqual([[], [], []]);
  });

  test("an unknown log level is -32602 [S72]", async () => {
    const { error } = await callTool(await telling(), "tell", {}, { meta: level("loud") });
    expect(error?.code).toBe(-32602);
  });

  test("is sent from the level that the request set, once, and not again during a replay [S71]", async () => {
    const answers = await rounds(await telling(), level("info"));
    expect(told(answers, "notifications/message")).toEqual([
      [{ level: "info", data: { at: "begun" } }],
      [{ level: "warning", data: "between" }],
      [],
    ]);
  });
});
