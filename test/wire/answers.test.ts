// What a client may send as an answer, and what the server does with it.

import { afterEach, describe, expect, test, vi } from "vitest";
import { nodeEnvironment } from "../../src/server/ops/environment.ts";
import { accept, callTool, envelope, exchange, textIn, tokenIn } from "./post.ts";
import type { Answer } from "./post.ts";
import { served } from "./served.ts";

afterEach(() => vi.restoreAllMocks());

/** Calls the tool, and answers its questions with this. */
async function answering(tool: string, inputResponses: unknown): Promise<Answer> {
  const { to } = await served();
  const requestState = tokenIn(await callTool(to, tool));
  return callTool(to, tool, {}, { requestState, inputResponses });
}

const messagesIn = ({ result }: Answer) =>
  Object.fromEntries(
    Object.entries(
      (result?.["inputRequests"] ?? {}) as Record<string, { params: { message: string } }>,
    ).map(([key, { params }]) => [key, params.message]),
  );

describe("an answer that refuses", () => {
  test.each([
    ["decline", "declined"],
    ["cancel", "cancelled without an answer"],
  ])("answering with %s ends the call with a result that says so [S37]", async (action, said) => {
    const { result } = await answering("age", { age: { action } });
    expect(result).toMatchObject({
      resultType: "complete",
      isError: true,
      content: [{ type: "text", text: `Question "age" was ${said}.` }],
    });
  });

  test.each(["decline", "cancel"])(
    "answering with %s is an outcome if the handler wants it",
    async (action) => {
      expect(textIn(await answering("outcome", { name: { action } }))).toBe(
        `{"action":"${action}"}`,
      );
    },
  );

  test("ends a prompt and a resource with an error, because they have no such result", async () => {
    const { to } = await served();
    const read = { uri: "diary://today" };
    const requestState = tokenIn(await exchange(to, envelope("resources/read", read)));
    const inputResponses = { mood: { action: "decline" } };
    const { error } = await exchange(
      to,
      envelope("resources/read", { ...read, requestState, inputResponses }),
    );
    expect(error).toMatchObject({ code: -32603, message: 'Question "mood" was declined.' });
  });
});

describe("an answer that is missing", () => {
  test.each([undefined, {}, { other: accept({ age: 20 }) }])(
    "is asked for again, and is not an error: %j [S35] [S36]",
    async (inputResponses) => {
      const again = await answering("age", inputResponses);
      expect(again.result?.["resultType"]).toBe("input_required");
      expect(messagesIn(again)).toEqual({ age: "How old?" });
    },
  );

  test("is the only one asked for if another answer came, which is kept [S36]", async () => {
    const { to } = await served();
    const asked = await callTool(to, "two");
    const half = await callTool(
      to,
      "two",
      {},
      {
        requestState: tokenIn(asked),
        inputResponses: { other: accept({ other: "b" }) },
      },
    );
    expect(messagesIn(half)).toEqual({ one: "One?" });
    const whole = await callTool(
      to,
      "two",
      {},
      {
        requestState: tokenIn(half),
        inputResponses: { one: accept({ one: "a" }) },
      },
    );
    expect(textIn(whole)).toBe("a and b");
  });
});

describe("an answer that does not fit", () => {
  test.each([
    [
      "the value breaks the schema",
      accept({ age: 7 }),
      /^How old\?\n\nThe last answer did not fit: .*18/,
    ],
    [
      "the value has the wrong type",
      accept({ age: "old" }),
      /^How old\?\n\nThe last answer did not fit: /,
    ],
    ["the field is missing", accept({}), /^How old\?\n\nThe last answer did not fit: /],
    ["the content is missing", { action: "accept" }, /^How old\?\n\nThe last answer did not fit: /],
    ["the action is unknown", { action: "perhaps" }, /expected the answer to a form$/],
    ["it is an answer for roots", { roots: [] }, /expected the answer to a form$/],
    [
      "it is a completion",
      { role: "assistant", model: "m", content: { type: "text", text: "20" } },
      /expected the answer to a form$/,
    ],
    ["it is wrapped", { method: "elicitation/create", result: accept({ age: 20 }) }, /a form$/],
    ["it is a number", 20, /expected the answer to a form$/],
    ["it is null", null, /expected the answer to a form$/],
  ])("is asked for again with the reason (%s): %j [S34]", async (_, age, reason) => {
    expect(messagesIn(await answering("age", { age }))).toEqual({
      age: expect.stringMatching(reason) as string,
    });
  });

  test("is asked for again as often as necessary, and the reason does not make it another question", async () => {
    const { to } = await served();
    let asked = await callTool(to, "age");
    for (const age of [1, 2, 3]) {
      const inputResponses = { age: accept({ age }) };
      asked = await callTool(to, "age", {}, { requestState: tokenIn(asked), inputResponses });
    }
    const inputResponses = { age: accept({ age: 18 }) };
    const told = await callTool(to, "age", {}, { requestState: tokenIn(asked), inputResponses });
    expect(textIn(told)).toBe("18");
  });

  test("is asked for again if the question is for the model or for roots [S34]", async () => {
    const { to } = await served();
    const requestState = tokenIn(await callTool(to, "every_kind"));
    const again = await callTool(
      to,
      "every_kind",
      {},
      {
        requestState,
        inputResponses: {
          form: accept({ name: "Ada", extras: [], news: true }),
          by: accept({ by: "cheque" }),
          sure: accept(),
          page: { action: "accept" },
          motto: { role: "user", model: "m", content: { type: "text", text: "x" } },
          roots: { roots: [{ uri: "https://example.com" }] },
        },
      },
    );
    expect(Object.keys(again.result?.["inputRequests"] ?? {}).toSorted()).toEqual([
      "by",
      "motto",
      "roots",
    ]);
  });
});

test.each(["null", '"text"', "[]", "7"])(
  "answers that are not a map, but %s, are an error, not missing [S34]",
  async (text) => {
    const { error } = await answering("age", JSON.parse(text));
    expect(error?.code).toBe(-32602);
  },
);

describe("an answer that was not asked for", () => {
  test("is ignored if it comes with the right one, under another key or in further members [S35]", async () => {
    const told = await answering("age", {
      age: { ...accept({ age: 20, height: 2 }), extra: true },
      unasked: accept({ unasked: 1 }),
      junk: 7,
      ...(JSON.parse('{ "__proto__": { "action": "accept" } }') as object),
    });
    expect(textIn(told)).toBe("20");
  });

  test("does not count without a token, and the question is asked [D15]", async () => {
    const { to, ran } = await served();
    const inputResponses = { sure: accept() };
    const { result } = await callTool(to, "pay", { amount: 5 }, { inputResponses });
    expect(result?.["resultType"]).toBe("input_required");
    expect(ran).toEqual([expect.stringMatching(/\/quote$/)]);
  });

  test("does not count in a round that asked nothing", async () => {
    const { to } = await served();
    const requestState = tokenIn(await callTool(to, "halves"));
    const inputResponses = { first: accept() };
    const told = await callTool(to, "halves", {}, { requestState, inputResponses });
    expect(textIn(told)).toBe("both");
  });

  test("does not reach a handler that drives its own rounds", async () => {
    const { to } = await served();
    const unasked = { inputResponses: { name: accept({ name: "Eve" }) } };
    const asked = await callTool(to, "by_hand", {}, unasked);
    const told = await callTool(
      to,
      "by_hand",
      {},
      {
        requestState: tokenIn(asked),
        inputResponses: { name: accept({ name: "Ada" }), more: accept() },
      },
    );
    expect(JSON.parse(textIn(told))).toEqual({ name: accept({ name: "Ada" }) });
  });
});

describe("an answer that comes late", () => {
  test("loses to the question's time limit, even if its token is still valid [S37]", async () => {
    const { to } = await served();
    const requestState = tokenIn(await callTool(to, "hurry"));
    const leg = { requestState, inputResponses: { name: accept({ name: "Ada" }) } };
    expect(textIn(await callTool(to, "hurry", {}, leg))).toBe("in time");
    vi.spyOn(nodeEnvironment, "now").mockImplementation(() => Date.now() + 60_000);
    expect((await callTool(to, "hurry", {}, leg)).result).toMatchObject({
      isError: true,
      content: [{ text: 'Question "name" was not answered in time.' }],
    });
  });
});
