import { describe, expect, test } from "vitest";
import { GivenAnswers } from "./given-answers.ts";

describe("answers given beforehand", () => {
  const form = (properties: object) =>
    ({
      kind: "form",
      key: "size",
      message: "?",
      schema: { type: "object", properties, required: [] },
    }) as never;
  const one = form({ size: { type: "string" } });

  test("the only field, a form's content, a whole answer", () => {
    expect(new GivenAnswers(undefined, ["size=L"]).for(one)).toEqual({
      action: "accept",
      content: { size: "L" },
    });
    expect(new GivenAnswers(undefined, ['size={"size":"L"}']).for(one)).toEqual({
      action: "accept",
      content: { size: "L" },
    });
    expect(new GivenAnswers(undefined, ['size={"action":"decline"}']).for(one)).toEqual({
      action: "decline",
    });
    expect(() => new GivenAnswers(undefined, ["size=5"]).for(one)).toThrow(`"size" must be text`);
    expect(() => new GivenAnswers(undefined, ["size"])).toThrow("--answer takes key=value");
  });

  test("a question without a field takes yes and no", () => {
    const sure = form({});
    for (const [word, action] of [
      ["yes", "accept"],
      ["true", "accept"],
      ["no", "decline"],
      ["false", "decline"],
    ]) {
      expect(new GivenAnswers(undefined, [`size=${word}`]).for(sure)).toMatchObject({ action });
    }
    expect(() => new GivenAnswers(undefined, ["size=maybe"]).for(sure)).toThrow(
      '"size" must be yes or no (question "size").',
    );
  });

  test("pages and models", () => {
    const page = {
      kind: "url",
      key: "k",
      message: "",
      url: "",
      host: "",
      isPunycode: false,
    } as const;
    expect(new GivenAnswers(undefined, ["k=true"]).for(page)).toEqual({ action: "accept" });
    expect(new GivenAnswers(undefined, ["k=yes"]).for(page)).toEqual({ action: "accept" });
    expect(new GivenAnswers(undefined, ["k=no"]).for(page)).toEqual({ action: "decline" });
    expect(() => new GivenAnswers(undefined, ["k=done"]).for(page)).toThrow(
      '"k" must be yes or no (question "k").',
    );
    const params = { messages: [], maxTokens: 1 };
    const model = { kind: "sampling" as const, key: "k", params };
    expect(new GivenAnswers(undefined, ["k=hi"]).for(model)).toMatchObject({
      role: "assistant",
      content: { text: "hi" },
    });
  });

  test("an answer that was rejected is not given again, under any key", () => {
    const given = new GivenAnswers(undefined, ["size=L"]);
    expect(given.unused).toEqual(["size"]);
    expect(given.for(one)).toBeDefined();
    expect(given.for(one)).toBeUndefined();
    expect(given.for({ ...(one as object), key: "size~2" } as never)).toBeUndefined();
    expect(given.unused).toEqual([]);
  });
});
