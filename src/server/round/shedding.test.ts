// Rounds that end before their next step, because the app is closing or because they take long.

import { beforeEach, describe, expect, test } from "vitest";
import { z } from "zod";
import { registeredAs } from "../define/handles.ts";
import { parley } from "../parley.ts";
import { memoryStore } from "mcp-parley";
import type { Core } from "../core.ts";
import type { RoundRequest, RoundResponse } from "./request.ts";
import { newKey } from "../../token/keyring.ts";
import { serveRound } from "./round.ts";

const keys = newKey("test");
const accept = (content: object) => ({ action: "accept", content });

/** The steps that ran, each with the number of its round. */
let ran: string[] = [];
let round = 0;
let now = 0;
let isClosing = false;
/** What a body does, besides being recorded. */
let during = (_step: string): void | Promise<void> => {};

beforeEach(() => {
  [ran, round, now, isClosing] = [[], 0, 1_000_000, false];
  during = () => {};
});

const nothing = () => {};
const logger = { debug: nothing, info: nothing, warn: nothing, error: nothing };
const app = parley({ name: "shedding", version: "1.0.0", keys, logger, store: memoryStore() });
const body = (step: string) => async () => {
  ran.push(`${round} ${step}`);
  await during(step);
  return step;
};

const tools = {
  walk: app.tool("walk", { inputSchema: z.object({ steps: z.int() }) }, async ({ steps }, ctx) => {
    for (let step = 1; step <= steps; step += 1) await ctx.step(`s${step}`, body(`s${step}`));
    return "walked";
  }),
  once: app.tool("once", { once: true }, async (ctx) => {
    for (let step = 1; step <= 3; step += 1) await ctx.step(`s${step}`, body(`s${step}`));
    return "walked";
  }),
  ask: app.tool("ask", {}, async (ctx) => {
    const steps = async () => {
      for (let step = 1; step <= 3; step += 1) await ctx.step(`s${step}`, body(`s${step}`));
    };
    const [name] = await Promise.all([
      ctx.ask("name", "Name?", undefined, { timeoutMs: 60_000 }),
      steps(),
    ]);
    return name;
  }),
  pairs: app.tool("pairs", {}, async (ctx) => {
    for (const pair of [1, 2]) {
      await Promise.all(["a", "b"].map((side) => ctx.step(`${side}${pair}`, body(side + pair))));
    }
    return "paired";
  }),
};

function serve(tool: keyof typeof tools, more: Partial<RoundRequest>, limits = {}) {
  const { core, definition } = registeredAs(tools[tool]);
  const own: Core = {
    ...core,
    limits: { ...core.limits, ...limits },
    environment: { ...core.environment, now: () => now },
    isClosing: () => isClosing,
  };
  round += 1;
  return serveRound(own, definition, {
    target: tool,
    arguments: {},
    capabilities: { elicitation: { form: {} } },
    principal: "ada",
    facts: { meta: {} },
    ...more,
  });
}

/** Sends rounds without answers until the response is more than state. */
async function finish(
  tool: keyof typeof tools,
  more: Partial<RoundRequest> = {},
  limits = {},
): Promise<RoundResponse> {
  let response = await serve(tool, more, limits);
  for (let times = 0; times < 60 && response.kind === "input_required"; times += 1) {
    const { inputRequests, requestState } = response.result;
    if (inputRequests !== undefined) break;
    response = await serve(tool, { ...more, requestState }, limits);
  }
  return response;
}

const walk = (steps: number) => ({ arguments: { steps } });
const done = (text: string) => ({
  kind: "complete",
  result: { content: [{ type: "text", text }] },
});

describe("while the app is closing", () => {
  test("a round ends before the next step, with the state alone, and the rest follows elsewhere", async () => {
    during = (step) => void (isClosing = step === "s2");
    const first = await serve("walk", walk(4));
    expect(first).toEqual({
      kind: "input_required",
      call: expect.any(String),
      result: { resultType: "input_required", requestState: expect.any(String) },
    });
    expect(ran).toEqual(["1 s1", "1 s2"]);
    isClosing = false;
    during = () => {};
    const { requestState } = first.kind === "input_required" ? first.result : {};
    expect(await serve("walk", { ...walk(4), requestState })).toMatchObject(done("walked"));
    expect(ran).toEqual(["1 s1", "1 s2", "2 s3", "2 s4"]);
  });

  test("every round runs one step, so that the call makes progress", async () => {
    isClosing = true;
    expect(await finish("walk", walk(3))).toMatchObject(done("walked"));
    expect(ran).toEqual(["1 s1", "2 s2", "3 s3"]);
  });

  test("steps that run in parallel are recorded before the round ends", async () => {
    during = (step) => void (isClosing ||= step === "b1");
    expect(await finish("pairs")).toMatchObject(done("paired"));
    expect(ran).toEqual(["1 a1", "1 b1", "2 a2", "3 b2"]);
  });

  test("a round of a once tool ends there as well, and its steps run once", async () => {
    isClosing = true;
    expect(await finish("once")).toMatchObject(done("walked"));
    // No body starts in a first request without a key.
    expect(ran).toEqual(["2 s1", "3 s2", "4 s3"]);
  });

  test("an eleventh round goes on to its end, because the official client would not come back", async () => {
    isClosing = true;
    expect(await finish("walk", walk(14))).toMatchObject(done("walked"));
    expect(ran.map((line) => line.split(" ")[0])).toEqual([
      ..."1 2 3 4 5 6 7 8 9 10".split(" "),
      ...Array.from({ length: 4 }, () => "11"),
    ]);
  });

  test("the last round that the app allows goes on to its end", async () => {
    isClosing = true;
    expect(await finish("walk", walk(4), { rounds: 2 })).toMatchObject(done("walked"));
    expect(ran).toEqual(["1 s1", "2 s2", "2 s3", "2 s4"]);
  });

  test("a call in a 2025-11-25 session goes on, because its rounds are in this process", async () => {
    isClosing = true;
    const legacy = { ...walk(3), era: "2025-11-25" as const };
    expect(await serve("walk", legacy)).toMatchObject(done("walked"));
    expect(ran).toEqual(["1 s1", "1 s2", "1 s3"]);
  });

  test("a question that is asked in parallel goes out when the steps are done, with its full time limit", async () => {
    isClosing = true;
    during = () => void (now += 50_000);
    const asked = await finish("ask");
    expect(asked).toMatchObject({ result: { inputRequests: { name: {} } } });
    expect(ran).toEqual(["1 s1", "2 s2", "3 s3"]);
    now += 59_999;
    const { requestState } = asked.kind === "input_required" ? asked.result : {};
    const inputResponses = { name: accept({ name: "Ada" }) };
    expect(await serve("ask", { requestState, inputResponses })).toMatchObject(done("Ada"));
  });
});

describe("limits.roundMs", () => {
  test("is off by default", async () => {
    during = () => void (now += 3_600_000);
    expect(await serve("walk", walk(3))).toMatchObject(done("walked"));
  });

  test("ends a round before the first step that would start later than that", async () => {
    during = () => void (now += 400);
    expect(await finish("walk", walk(6), { roundMs: 1_000 })).toMatchObject(done("walked"));
    expect(ran).toEqual(["1 s1", "1 s2", "1 s3", "2 s4", "2 s5", "2 s6"]);
  });

  test("does not apply to the last three of the ten rounds after which the official client gives up", async () => {
    during = () => void (now += 2_000);
    expect(await finish("walk", walk(12), { roundMs: 1_000 })).toMatchObject(done("walked"));
    expect(ran.map((line) => line.split(" ")[0])).toEqual([
      ..."1 2 3 4 5 6 7".split(" "),
      ...Array.from({ length: 5 }, () => "8"),
    ]);
  });

  test.each([0, -1, 1.5, Number.NaN])("%s is refused", (roundMs) => {
    const make = () => parley({ name: "bad", version: "1.0.0", limits: { roundMs } });
    expect(make).toThrow(
      new RangeError(
        `limits.roundMs is ${roundMs}. Pass a whole number from 1 to 316224000000, or Infinity.`,
      ),
    );
  });
});
