// 003, the table of response types: answer and promise, each complete, failed, asking for more, or streaming, as one type.
// docs/streaming.md has the table. Streaming is an extension, because the final specification has none.

import { ProtocolError } from "@modelcontextprotocol/server";
import { describe, expect, test } from "vitest";
import { cityWeather } from "../../examples/seeds/weather.ts";
import type { Day } from "../../examples/seeds/weather.ts";
import { outcomes } from "../../src/client/index.ts";
import type { CallOutcome, Era } from "../../src/client/index.ts";
import { connected, serving } from "./serving.ts";
import type { Register } from "./serving.ts";

const city =
  (day: Day): Register =>
  (app) =>
    cityWeather(app, day);

/** Calls `get_weather`, answers every question, and returns the outcome. */
async function told(era: Era, tool: Register): Promise<CallOutcome[]> {
  const connection = await connected(await serving(tool), { era, elicit: "events" });
  const call = connection.start("get_weather", { city: "New York" });
  const found: CallOutcome[] = [];
  for await (const outcome of outcomes(call)) {
    found.push(outcome);
    if (outcome.kind !== "asks") continue;
    for (const { key } of outcome.questions) {
      await call.answer(key, { action: "accept", content: { name: "octocat" } });
    }
  }
  return found;
}

const text = /^Current weather in New York/;
const failed = /^Error: Unable to retrieve/;
const complete = { kind: "complete", result: { text: expect.stringMatching(text) } };
const failure = { kind: "failure", result: { text: expect.stringMatching(failed) } };
const asks = { kind: "asks", questions: [{ kind: "form" }], ref: expect.any(String) };
const answer = { response: "answer" };
const promise = { response: "promise" };

describe("answer", () => {
  test.each(["2026-07-28", "2025-11-25"] as const)("can be complete (%s)", async (era) => {
    expect(await told(era, city({}))).toMatchObject([{ ...answer, ...complete }]);
  });

  test.each(["2026-07-28", "2025-11-25"] as const)("can be a failure (%s)", async (era) => {
    expect(await told(era, city({ isDown: true }))).toMatchObject([{ ...answer, ...failure }]);
  });

  test("can be a protocol failure, which is an error", async () => {
    const tool: Register = (app) =>
      app.tool("get_weather", {}, () => {
        throw new ProtocolError(4711, "The station is gone.");
      });
    expect(await told("2026-07-28", tool)).toMatchObject([
      { ...answer, kind: "failure", error: { code: "refused", rpc: { code: 4711 } } },
    ]);
  });

  test.each(["2026-07-28", "2025-11-25"] as const)(
    "can need additional information first (%s)",
    async (era) => {
      expect(await told(era, city({ asks: true }))).toMatchObject([
        { ...answer, ...asks },
        { ...answer, ...complete },
      ]);
    },
  );

  test.each(["2026-07-28", "2025-11-25"] as const)("can be streamed (%s)", async (era) => {
    const found = await told(era, city({ streams: true }));
    expect(found.at(-1)).toMatchObject({ ...answer, ...complete });
    expect(streamedIn(found, answer)).toBe(textIn(found));
  });

  test.each(["2026-07-28", "2025-11-25"] as const)(
    "can be streamed after more information (%s)",
    async (era) => {
      const found = await told(era, city({ asks: true, streams: true }));
      expect(found[0]).toMatchObject({ ...answer, ...asks });
      expect(streamedIn(found.slice(1), answer)).toBe(textIn(found));
    },
  );
});

describe("promise", () => {
  test("can be completed", async () => {
    expect(await told("2026-07-28", city({ isSlow: true }))).toMatchObject([
      { ...promise, ...complete },
    ]);
  });

  test("can fail", async () => {
    expect(await told("2026-07-28", city({ isSlow: true, isDown: true }))).toMatchObject([
      { ...promise, ...failure },
    ]);
  });

  test("can fail with a protocol error, which is an error", async () => {
    const tool: Register = (app) =>
      app.tool("get_weather", { task: "optional" }, async (ctx) => {
        await ctx.background();
        throw new ProtocolError(4711, "The station is gone.");
      });
    expect(await told("2026-07-28", tool)).toMatchObject([
      { ...promise, kind: "failure", error: { code: "task_failed", rpc: { code: 4711 } } },
    ]);
  });

  test("can need additional information first", async () => {
    expect(await told("2026-07-28", city({ isSlow: true, asks: true }))).toMatchObject([
      { ...promise, ...asks },
      { ...promise, ...complete },
    ]);
  });

  test("can be streamed", async () => {
    const found = await told("2026-07-28", city({ isSlow: true, streams: true }));
    expect(found.at(-1)).toMatchObject({ ...promise, ...complete });
    expect(streamedIn(found, promise)).toBe(textIn(found));
  });

  test("can be streamed after more information", async () => {
    const found = await told("2026-07-28", city({ isSlow: true, asks: true, streams: true }));
    expect(found).toContainEqual(expect.objectContaining({ ...promise, kind: "asks" }));
    expect(streamedIn(found, promise)).toBe(textIn(found));
  });
});

/** What the client has of the report after the last part. */
function streamedIn(found: readonly CallOutcome[], response: object): string | undefined {
  const parts = found.filter((one) => one.kind === "partial");
  for (const part of parts) expect(part).toMatchObject({ ...response, block: "report" });
  return parts.at(-1)?.soFar.text;
}

function textIn(found: readonly CallOutcome[]): string | undefined {
  const last = found.at(-1);
  return last?.kind === "complete" ? last.result.text : undefined;
}
