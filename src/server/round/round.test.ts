// A round from request to response: which tokens and which answers it accepts.

import { getHeapStatistics, setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { inputRequired as sdkInputRequired } from "@modelcontextprotocol/server";
import { type } from "arktype";
import { beforeEach, describe, expect, test } from "vitest";
import { z } from "zod";
import { newKey, parseKeys } from "../../token/keyring.ts";
import type { Keyring } from "../../token/keyring.ts";
import { openTicket } from "../../token/ticket.ts";
import { play } from "../../testing/play.ts";
import { anotherInstance, registeredAs } from "../define/handles.ts";
import type { StepError } from "../../errors.ts";
import { parley } from "../parley.ts";
import type { Core } from "../core.ts";
import { nodeEnvironment } from "../ops/environment.ts";
import type { Logger } from "../ops/logger.ts";
import { inputRequired } from "../context/low-level.ts";
import { serveRound } from "./round.ts";
import type { RoundResponse, RoundRequest } from "./request.ts";

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;

const keyring = parseKeys(newKey("test"));
const logged: { readonly message: string; readonly fields: unknown }[] = [];
const note = (message: string, fields?: unknown) => void logged.push({ message, fields });
const logger: Logger = { debug: note, info: note, warn: note, error: note };
let now = 1_000_000;
let ran: string[] = [];
let runs = 0;

beforeEach(() => {
  logged.length = 0;
  now = 1_000_000;
  ran = [];
  runs = 0;
});

const app = parley({ name: "round-test", version: "1.0.0", limits: { rounds: 4 } });
const pay = app.tool(
  "pay",
  { inputSchema: z.object({ amount: z.int() }) },
  async ({ amount }, ctx) => {
    runs += 1;
    await ctx.step("quote", ({ idempotencyKey }) => void ran.push(idempotencyKey));
    const isSure = await ctx.confirm("sure", `Pay ${amount}?`, { timeoutMs: 60_000 });
    await ctx.step("pay", ({ idempotencyKey }) => void ran.push(idempotencyKey));
    return isSure ? `paid ${amount} for ${ctx.principal ?? "nobody"}` : "not paid";
  },
);
const refund = app.tool(
  "refund",
  { inputSchema: z.object({ amount: z.int() }) },
  async () => "refunded",
);
const abilities = app.tool("abilities", {}, async (ctx) => {
  const can = (["form", "url", "sampling", "roots"] as const).filter((what) => ctx.can(what));
  await ctx.ask("name", "Name?", z.string(), { unsolicited: true });
  return can.join(" ");
});
const endless = app.tool("endless", {}, async (ctx) => {
  for (let n = 1; ; n += 1) await ctx.ask(`q${n}`, `Question ${n}?`);
});
const sampler = app.tool("sampler", {}, async (ctx) => (await ctx.sample("poem", "A poem")).text);
const page = app.tool("page", {}, async (ctx) => {
  await ctx.openUrl("sign-in", "Sign in", (ticket) => `https://example.com/login?state=${ticket}`);
  return "signed in";
});
const throws = app.tool("throws", {}, async () => {
  throw new Error("out of paper");
});
const sum = app.tool("sum", { outputSchema: z.object({ sum: z.int() }) }, async () => ({ sum: 3 }));

const patient = app.tool("patient", {}, async (ctx) =>
  ctx.ask("when", "When?", z.string(), { timeoutMs: 24 * 3_600_000 }),
);
let version = 1;
const deployed = app.tool("deployed", {}, async (ctx) => {
  if (version === 1) {
    const [a, b] = await Promise.all([ctx.ask("a", "A?"), ctx.ask("b", "B?")]);
    return `${a} ${b}`;
  }
  const c = await ctx.ask("c", "C?");
  return `${c} ${await ctx.ask("b", "B?")}`;
});
let nextId = 0;
const unsteady = app.tool(
  "unsteady",
  { inputSchema: z.object({ id: z.int().default(() => (nextId += 1)) }) },
  async ({ id }, ctx) => `${id} ${await ctx.confirm("go", "Go?")}`,
);
const wizard = app.tool("wizard", {}, async (ctx) => {
  const step = ctx.state(z.object({ step: z.int() }))?.step ?? 0;
  if (step === 0)
    return inputRequired({ inputRequests: { name: text("Name?") }, state: { step: 1 } });
  if (step === 1)
    return inputRequired({ inputRequests: { age: text("Age?") }, state: { step: 2 } });
  return JSON.stringify(ctx.answers);
});
const thrower = app.tool("thrower", {}, async (ctx) => {
  const ask = (key: string): unknown => {
    if (ctx.answers[key] !== undefined) return ctx.answers[key];
    const inputRequests = { [key]: text(`${key}?`) };
    throw key === "name"
      ? inputRequired({ inputRequests })
      : sdkInputRequired({ inputRequests: { [key]: sdkInputRequired.listRoots() } });
  };
  return JSON.stringify([ask("name"), ask("age")]);
});
const mixed = app.tool("mixed", {}, async (ctx) => {
  await ctx.step("s", () => {});
  return inputRequired({ state: 1 });
});
const greedy = app.tool("greedy", {}, async (ctx) => {
  for (let n = 1; n <= 10; n += 1) {
    await ctx.step(`s${n}`, () => n);
    await ctx.checkpoint();
  }
  return "all done";
});
const hidden = app.tool("hidden", {}, async (ctx) => {
  try {
    await ctx.ask("where", "Where?", z.object({ at: z.any() }));
  } catch {
    return "hidden";
  }
  return "asked";
});
const nested = app.tool("nested", {}, async (ctx) => {
  const inner = await ctx.step("outer", () =>
    play(pay, { amount: 1 }, { sure: true }).then(({ text: said }) => said),
  );
  return String(inner);
});
const text = (message: string) =>
  inputRequired.elicit({
    message,
    requestedSchema: { type: "object", properties: { v: { type: "string" } } },
  });

const writer = app.tool(
  "writer",
  { inputSchema: type({ id: "number", "note?": "string", "tags?": "string[]" }) },
  async (args, ctx) => {
    args.note ??= "none";
    args.tags?.push("seen");
    return `${args.note} ${args.tags?.join(" ") ?? ""} ${await ctx.confirm("go", "Go?")}`;
  },
);
const releases = app.tool("releases", {}, async (ctx) => {
  ctx.onRunEnd(() => {
    throw Object.create(null);
  });
  return "ok";
});
const odd = app.tool(
  "odd",
  { inputSchema: z.object({ how: z.string() }) },
  async ({ how }, ctx) => {
    switch (how) {
      case "no limit":
        return ctx.ask("q", "Q?", undefined, { timeoutMs: Number.POSITIVE_INFINITY });
      case "NaN":
        return ctx.ask("q", "Q?", undefined, { timeoutMs: Number.NaN });
      case "no message":
        return ctx.ask("q", undefined as never);
      case "no page":
        await ctx.openUrl("q", "Q?", "javascript:alert(1)");
        return "";
      default:
        throw { message: `thrown by ${how}` };
    }
  },
);
const curious = app.tool("curious", {}, async (ctx) => {
  const params = { prompt: "A poem", includeContext: "thisServer" } as const;
  return (await ctx.sample("poem", params)).text;
});
const slowPage = app.tool("slow_page", {}, async (ctx) => {
  const url = (ticket: string) => `https://example.com/?t=${ticket}`;
  await ctx.openUrl("page", "Open", url, { timeoutMs: 24 * 3_600_000 });
  return "opened";
});

const vandal = app.tool("vandal", {}, async (ctx) => {
  const seen: string[] = [];
  const damage = (value: { readonly list: string[] }) => {
    seen.push(value.list.join());
    value.list.push("damaged");
  };
  damage(await ctx.step("made", () => ({ list: ["made"] })));
  const fails = () => {
    throw Object.assign(new Error("no"), { data: { list: ["thrown"] } });
  };
  await ctx.step("failed", fails).catch(({ data }: StepError) => damage(data as never));
  const form = z.object({ list: z.array(z.enum(["answered", "other"])) });
  damage(await ctx.ask("answer", "Which?", form));
  await ctx.confirm("go", "Go?");
  await ctx.confirm("really", "Really?");
  return seen.join(" ");
});

const cut = () => String(Math.random()).repeat(60_000).slice(0, 50);
const cuts = app.tool("cuts", {}, async (ctx) => {
  const part = await ctx.step("part", cut);
  return `${part} ${await ctx.confirm("go", "Go?")}`;
});
const cutsWrong = app.tool("cuts_wrong", {}, async (ctx) => {
  const wrong = () => {
    throw Object.assign(new Error("no"), { data: { near: cut() } });
  };
  await ctx.step("wrong", wrong).catch(() => {});
  return `wrong ${await ctx.confirm("go", "Go?")}`;
});

let leaked: { [key: string]: unknown } = {};
const leaky = app.tool("leaky", {}, async (ctx) => {
  leaked = ctx.answers;
  const missing = ["a", "b"].find((key) => ctx.answers[key] === undefined);
  return missing === undefined
    ? JSON.stringify(ctx.answers["a"])
    : inputRequired({ inputRequests: { [missing]: text(`${missing}?`) } });
});

const definitions = new Map(
  [
    vandal,
    cuts,
    cutsWrong,
    leaky,
    curious,
    writer,
    releases,
    odd,
    slowPage,
    patient,
    deployed,
    unsteady,
    wizard,
    thrower,
    mixed,
    greedy,
    hidden,
    nested,
    pay,
    refund,
    abilities,
    endless,
    sampler,
    page,
    throws,
    sum,
  ].map((tool) => {
    const { definition } = registeredAs(tool);
    return [definition.name, definition];
  }),
);

function serve(core: Core, request: RoundRequest): Promise<RoundResponse> {
  const definition = definitions.get(request.target);
  if (definition === undefined) throw new Error(`no tool ${request.target}`);
  return serveRound(core, definition, request);
}

const instance = (keys: Keyring = keyring, name = "round-test"): Core => ({
  ...anotherInstance(registeredAs(pay).core, {
    environment: { ...nodeEnvironment, now: () => now, stallMs: 0, isDevelopment: false },
    keyring: keys,
    logger,
  }),
  name,
});

const everything = { elicitation: { form: {}, url: {} }, sampling: {}, roots: {} };
const first: RoundRequest = {
  target: "pay",
  arguments: { amount: 5 },
  capabilities: everything,
  principal: "ada",
  facts: { meta: {} },
};
const yes = { sure: { action: "accept", content: {} } };

async function asked(request: RoundRequest, core = instance()) {
  const answer = await serve(core, request);
  if (answer.kind !== "input_required") throw new Error(JSON.stringify(answer));
  return answer.result;
}

/** The second leg of `pay`, as an honest client sends it. */
async function secondLeg(): Promise<RoundRequest> {
  const { requestState } = await asked(first);
  return { ...first, requestState, inputResponses: yes };
}

const textOf = (answer: RoundResponse) =>
  answer.kind === "complete" ? (answer.result["content"] as { text: string }[])[0]?.text : answer;

describe("a token", () => {
  test("carries the call to any instance that has the key", async () => {
    expect(textOf(await serve(instance(), await secondLeg()))).toBe("paid 5 for ada");
    expect(ran).toHaveLength(2);
  });

  test.each<[string, () => () => Core]>([
    [
      "the instance that has sealed it",
      (one = instance()) =>
        () =>
          one,
    ],
    ["another instance", () => () => instance()],
  ])("is not changed by what the handler does to its values: %s", async (_, served) => {
    const core = served();
    const call = { ...first, target: "vandal", arguments: {} };
    const answers = [
      { answer: { action: "accept", content: { list: ["answered"] } } },
      { go: { action: "accept", content: {} } },
      { really: { action: "accept", content: {} } },
    ];
    let answer = await serve(core(), call);
    for (const inputResponses of answers) {
      if (answer.kind !== "input_required") throw new Error(JSON.stringify(answer));
      const { requestState } = answer.result;
      answer = await serve(core(), { ...call, requestState, inputResponses });
    }
    expect(textOf(answer)).toBe("made thrown answered");
  });

  test("is not changed by a handler that drives the rounds itself, after they have ended", async () => {
    const one = instance();
    const call = { ...first, target: "leaky", arguments: {} };
    const given = { action: "accept", content: { v: "as given" } };
    const { requestState } = await asked(call, one);
    const second = await asked({ ...call, requestState, inputResponses: { a: { ...given } } }, one);
    Object.assign(leaked["a"] as object, { action: "decline" });
    const third = { ...call, requestState: second.requestState, inputResponses: { b: given } };
    expect(textOf(await serve(one, third))).toBe(JSON.stringify(given));
  });

  test.each(["cuts", "cuts_wrong"])(
    "keeps no text that a part was cut out of: %s",
    async (target) => {
      const one = instance();
      const call = { ...first, target, arguments: {} };
      const used = () => {
        collect();
        return getHeapStatistics().used_heap_size;
      };
      await asked(call, one);
      const before = used();
      // A text of a megabyte in each call.
      for (let calls = 0; calls < 20; calls += 1) await asked(call, one);
      expect(used() - before).toBeLessThan(10_000_000);
    },
  );

  const refused = {
    kind: "error",
    code: -32602,
    message: "Invalid or expired requestState",
    data: { reason: "invalid_request_state" },
  };

  test.each<[string, (leg: RoundRequest) => RoundRequest, string]>([
    ["other arguments", (leg) => ({ ...leg, arguments: { amount: 5_000 } }), "arguments"],
    ["another tool", (leg) => ({ ...leg, target: "refund" }), "target"],
    ["another principal", (leg) => ({ ...leg, principal: "eve" }), "principal"],
    ["no principal", (leg) => ({ ...leg, principal: undefined }), "principal"],
    [
      "a flipped bit",
      (leg) => ({ ...leg, requestState: flipped(String(leg.requestState)) }),
      "forged",
    ],
    ["a token that is not a string", (leg) => ({ ...leg, requestState: { v1: true } }), "not_text"],
    ["an empty string", (leg) => ({ ...leg, requestState: "" }), "malformed"],
    ["null", (leg) => ({ ...leg, requestState: null }), "not_text"],
  ])("is refused with %s, and the handler does not run", async (_, change, reason) => {
    const leg = change(await secondLeg());
    runs = 0;
    expect(await serve(instance(), leg)).toEqual(refused);
    expect(runs).toBe(0);
    expect(logged).toEqual([
      { message: "A requestState was refused.", fields: { handler: leg.target, reason } },
    ]);
  });

  const skewed = () => logged.filter(({ message }) => message.includes("in the future"));

  test("that was sealed in this replica's future is accepted, and the log says so, once a minute", async () => {
    const one = instance();
    const legs = [await secondLeg(), await secondLeg(), await secondLeg()] as const;
    now -= 60_000;
    expect(textOf(await serve(one, legs[0]))).toBe("paid 5 for ada");
    expect(skewed()).toEqual([
      {
        message:
          "A requestState was sealed 60 s in the future by this server's clock. " +
          "The clocks of your replicas differ, or limits.tokenTtlMs does. Each replica judges by its own clock whether a requestState has expired, so synchronize the clocks.",
        fields: { call: expect.any(String) as string, aheadMs: 60_000 },
      },
    ]);
    await serve(one, legs[1]);
    expect(skewed()).toHaveLength(1);
    now -= 60_000;
    await serve(instance(), legs[2]);
    expect(skewed()).toHaveLength(2);
  });

  test("that was sealed a moment ahead, or lasts longer because of a question, is not logged", async () => {
    const leg = await secondLeg();
    now -= 10_000;
    await serve(instance(), leg);
    now += 10_000;
    const request = { ...first, target: "patient", arguments: {} };
    const { requestState } = await asked(request);
    await serve(instance(), { ...request, requestState });
    expect(skewed()).toEqual([]);
  });

  test("that has expired by this replica's clock is refused, and the log suggests comparing clocks", async () => {
    const leg = await secondLeg();
    now += 12 * 60_000;
    expect(await serve(instance(), leg)).toEqual(refused);
    expect(logged.map(({ message }) => message)).toEqual([
      "A requestState was refused. It has expired by this server's clock. If clients do come back in time, compare the clocks of your replicas.",
    ]);
  });

  test("is refused by another server, with another key, and when it is too old", async () => {
    const leg = await secondLeg();
    expect(await serve(instance(keyring, "other"), leg)).toEqual(refused);
    expect(await serve(instance(parseKeys(newKey("test"))), leg)).toEqual(refused);
    now += 11 * 60_000;
    expect(await serve(instance(), leg)).toEqual(refused);
    expect(logged.map(({ fields }) => (fields as { reason: string }).reason)).toEqual([
      "audience",
      "forged",
      "expired",
    ]);
  });

  test("does not appear in the log, nor do the answers", async () => {
    const leg = await secondLeg();
    await serve(instance(), { ...leg, principal: "eve" });
    expect(JSON.stringify(logged)).not.toContain(String(leg.requestState).slice(10, 40));
  });

  test("is valid for a limited number of rounds", async () => {
    let request: RoundRequest = { ...first, target: "endless", arguments: {} };
    const core = instance();
    for (let round = 1; round < 4; round += 1) {
      const { requestState, inputRequests } = await asked(request, core);
      const [key = ""] = Object.keys(inputRequests ?? {});
      const answer = { action: "accept", content: { [key]: "yes" } };
      request = { ...request, requestState, inputResponses: { [key]: answer } };
    }
    expect(await serve(core, request)).toMatchObject({
      kind: "error",
      data: { reason: "too_many_rounds" },
    });
  });

  test("a token that is sent again forks the call: recorded steps do not run again, later ones do under the same key (R14)", async () => {
    const leg = await secondLeg();
    await serve(instance(), leg);
    await serve(instance(), leg);
    const [quote, once, again] = ran;
    expect(ran).toHaveLength(3);
    expect(quote).toMatch(/\/quote$/);
    expect(again).toBe(once);
  });

  test("a first request that is sent again is a new call with new keys (R14)", async () => {
    await asked(first);
    await asked(first);
    expect(new Set(ran).size).toBe(2);
  });
});

describe("an answer", () => {
  test("an answer to a question that was not asked proves nothing, and the question is asked", async () => {
    const answer = await serve(instance(), { ...first, inputResponses: yes });
    expect(answer.kind).toBe("input_required");
  });

  test("an answer to a question that was not asked counts if the question allows it", async () => {
    const answer = await serve(instance(), {
      ...first,
      target: "abilities",
      arguments: {},
      inputResponses: { name: { action: "accept", content: { name: "Ada" } } },
    });
    expect(answer.kind).toBe("complete");
  });

  test.each([["a text"], [42], [[]], [{ sure: "accept" }], [{ sure: null }], [{ sure: [] }]])(
    "an answer with no structure at all is an error: %j",
    async (inputResponses) => {
      const leg = { ...(await secondLeg()), inputResponses };
      expect(await serve(instance(), leg)).toMatchObject({ kind: "error", code: -32602 });
    },
  );

  test.each([
    [{ action: "perhaps" }],
    [{ roots: [] }],
    [{ role: "assistant", model: "m", content: { type: "text", text: "yes" } }],
  ])("an answer of another kind is asked for again with the reason: %j", async (sure) => {
    const leg = { ...(await secondLeg()), inputResponses: { sure } };
    const { inputRequests } = await asked(leg);
    expect(inputRequests?.["sure"]).toMatchObject({
      params: {
        message: "Pay 5?\n\nThe last answer did not fit: expected the answer to a form",
      },
    });
  });

  test("a missing answer is asked for again, and unknown keys are ignored", async () => {
    const leg = { ...(await secondLeg()), inputResponses: { other: { action: "accept" } } };
    const { inputRequests } = await asked(leg);
    expect(Object.keys(inputRequests ?? {})).toEqual(["sure"]);
  });

  test("an answer that comes after the question's time limit loses to the timeout", async () => {
    const leg = await secondLeg();
    now += 60_000;
    expect(await serve(instance(), leg)).toMatchObject({
      kind: "complete",
      result: { isError: true, content: [{ text: 'Question "sure" was not answered in time.' }] },
    });
  });

  test("a token lives at least as long as its questions", async () => {
    const request: RoundRequest = { ...first, target: "patient", arguments: {} };
    const { requestState } = await asked(request);
    now += 24 * 3_600_000 - 1;
    const leg = {
      ...request,
      requestState,
      inputResponses: { when: { action: "accept", content: { when: "now" } } },
    };
    expect(textOf(await serve(instance(), leg))).toBe("now");
  });

  test("a question that is asked again keeps its time limit", async () => {
    const leg = await secondLeg();
    now += 40_000;
    const { requestState } = await asked({ ...leg, inputResponses: {} });
    now += 20_000;
    const answer = await serve(instance(), { ...leg, requestState });
    expect(textOf(answer)).toBe('Question "sure" was not answered in time.');
  });

  test("declining means no, and the handler decides what follows", async () => {
    const leg = { ...(await secondLeg()), inputResponses: { sure: { action: "decline" } } };
    expect(textOf(await serve(instance(), leg))).toBe("not paid");
  });
});

describe("what the client can be asked", () => {
  test("is fixed by the first request of the call (R13)", async () => {
    const request: RoundRequest = {
      ...first,
      target: "abilities",
      arguments: {},
      capabilities: { elicitation: {} },
    };
    const { requestState } = await asked(request);
    const answer = await serve(instance(), {
      ...request,
      requestState,
      inputResponses: { name: { action: "accept", content: { name: "Ada" } } },
      capabilities: everything,
    });
    expect(textOf(answer)).toBe("form");
  });

  test("a question of any other kind is an error that names what is missing", async () => {
    const request = { ...first, target: "sampler", arguments: {}, capabilities: {} };
    expect(await serve(instance(), request)).toMatchObject({
      kind: "error",
      code: -32021,
      data: { requiredCapabilities: { sampling: {} } },
    });
  });
});

test.each([
  [{}, undefined],
  [{ context: {} }, "thisServer"],
])("includeContext is sent only to a client that supports it [S26]: %j", async (sampling, sent) => {
  const request = { ...first, target: "curious", arguments: {}, capabilities: { sampling } };
  const { inputRequests = {} } = await asked(request);
  const { poem } = inputRequests;
  expect(poem?.method === "sampling/createMessage" && poem.params.includeContext).toBe(sent);
});

test("the low-level form does not send a URL that is not a page [S41]", () => {
  expect(() => inputRequired.elicitUrl({ message: "Open", url: "javascript:alert(1)" })).toThrow(
    "needs an http or https URL",
  );
});

describe("a page", () => {
  test("gets a new ticket each time, and is still the same question", async () => {
    const request: RoundRequest = { ...first, target: "page", arguments: {} };
    const once = await asked(request);
    const again = await asked({ ...request, requestState: once.requestState, inputResponses: {} });
    const urls = [once, again].map(({ inputRequests = {} }) => {
      const shown = inputRequests["sign-in"];
      return shown?.method === "elicitation/create" && shown.params.mode === "url"
        ? shown.params.url
        : "";
    });
    expect(urls[0]).toMatch(/^https:\/\/example\.com\/login\?state=t1\.test\.[\w-]+$/);
    expect(urls[1]).not.toBe(urls[0]);
    const answer = await serve(instance(), {
      ...request,
      requestState: again.requestState,
      inputResponses: { "sign-in": { action: "accept" } },
    });
    expect(textOf(answer)).toBe("signed in");
  });
});

describe("a handler that drives the rounds itself", () => {
  const request: RoundRequest = { ...first, target: "wizard", arguments: {} };
  const said = (v: string) => ({ action: "accept", content: { v } });

  test("has all answers so far, even if a client sends only the last ones", async () => {
    const one = await asked(request);
    expect(Object.keys(one.inputRequests ?? {})).toEqual(["name"]);
    const second = {
      ...request,
      requestState: one.requestState,
      inputResponses: { name: said("Ada") },
    };
    const two = await asked(second);
    const third = {
      ...request,
      requestState: two.requestState,
      inputResponses: { age: said("36"), x: said("no") },
    };
    const answer = await serve(instance(), third);
    expect(textOf(answer)).toBe(JSON.stringify({ name: said("Ada"), age: said("36") }));
  });

  test("does not see an answer that was not asked for", async () => {
    const one = await asked({ ...request, inputResponses: { age: said("36") } });
    const two = await asked({
      ...request,
      requestState: one.requestState,
      inputResponses: { age: said("36") },
    });
    const three = await serve(instance(), { ...request, requestState: two.requestState });
    expect(textOf(three)).toBe("{}");
  });

  test("asks only for what the client supports", async () => {
    const answer = await serve(instance(), { ...request, capabilities: { sampling: {} } });
    expect(answer).toMatchObject({
      code: -32021,
      data: { requiredCapabilities: { elicitation: { form: {} } } },
    });
  });

  test("may throw what it could return, including what the SDK makes", async () => {
    const capabilities = { elicitation: {}, roots: {} };
    const throwing = { ...request, target: "thrower", capabilities };
    const one = await asked(throwing);
    expect(Object.keys(one.inputRequests ?? {})).toEqual(["name"]);
    const { requestState } = one;
    const two = await asked({ ...throwing, requestState, inputResponses: { name: said("Ada") } });
    expect(two.inputRequests).toMatchObject({ age: { method: "roots/list" } });
    const answer = await serve(instance(), {
      ...throwing,
      requestState: two.requestState,
      inputResponses: { age: { roots: [] } },
    });
    expect(textOf(answer)).toBe(JSON.stringify([said("Ada"), { roots: [] }]));
    expect(logged).toEqual([]);
  });

  test("cannot also use the high-level form", async () => {
    const answer = await serve(instance(), { ...request, target: "mixed" });
    expect(answer).toMatchObject({ kind: "error", data: { reason: "mixed_styles" } });
  });
});

describe("a deployment in the middle of a call", () => {
  const request: RoundRequest = { ...first, target: "deployed", arguments: {} };
  const said = (key: string) => ({ action: "accept", content: { [key]: key } });

  test("keeps the answer to a question that the new code asks later", async () => {
    version = 1;
    const { requestState } = await asked(request);
    version = 2;
    const leg = { ...request, requestState, inputResponses: { a: said("a"), b: said("b") } };
    const next = await asked(leg);
    expect(Object.keys(next.inputRequests ?? {})).toEqual(["c"]);
    const last = { ...request, requestState: next.requestState, inputResponses: { c: said("c") } };
    expect(textOf(await serve(instance(), last))).toBe("c b");
  });
});

describe("other outcomes of a round", () => {
  test("arguments that do not fit are refused", async () => {
    expect(await serve(instance(), { ...first, arguments: { amount: "5" } })).toMatchObject({
      kind: "complete",
      result: { isError: true },
    });
    expect(runs).toBe(0);
  });

  test("a schema that parses the same arguments differently is noticed", async () => {
    const request: RoundRequest = { ...first, target: "unsteady", arguments: {} };
    const { requestState } = await asked(request);
    const leg = { ...request, requestState, inputResponses: { go: { action: "accept" } } };
    expect(await serve(instance(), leg)).toMatchObject({ data: { reason: "history_changed" } });
    expect(logged[0]?.message).toContain("gives a different result for the same arguments");
  });

  test.each([{ id: 1 }, { id: 1, tags: ["a"] }])(
    "a handler may write to its arguments, and the token still fits: %j",
    async (args) => {
      const request: RoundRequest = { ...first, target: "writer", arguments: args };
      const once = structuredClone(args);
      const { requestState } = await asked(request);
      const leg = {
        ...request,
        arguments: once,
        requestState,
        inputResponses: { go: { action: "accept" } },
      };
      expect(textOf(await serve(instance(), leg))).toMatch(/^none .*true$/);
    },
  );

  test("a release that throws an unusual value does not hold back the response", async () => {
    expect(textOf(await serve(instance(), { ...first, target: "releases", arguments: {} }))).toBe(
      "ok",
    );
  });

  test.each([
    ["NaN", { data: { reason: "bad_option" } }],
    ["no message", { data: { reason: "bad_option" } }],
    ["no page", { data: { reason: "bad_option" } }],
    ["no limit", { kind: "input_required" }],
    ["something", { result: { isError: true, content: [{ text: "thrown by something" }] } }],
  ])("each invalid option is one clear error: %s", async (how, expected) => {
    const answer = await serve(instance(), { ...first, target: "odd", arguments: { how } });
    expect(answer).toMatchObject(expected);
  });

  test("a ticket lives as long as its question", async () => {
    const { inputRequests = {} } = await asked({ ...first, target: "slow_page", arguments: {} });
    const shown = inputRequests["page"];
    const url =
      shown?.method === "elicitation/create" && "url" in shown.params ? shown.params.url : "";
    const ticket = new URL(url).searchParams.get("t");
    const opened = openTicket(ticket, keyring, {
      audience: "round-test",
      now: now + 23 * 3_600_000,
    });
    expect(opened).toMatchObject({ key: "page" });
  });

  test.each([
    ["too many", Object.fromEntries(Array.from({ length: 1_001 }, (_, n) => [`k${n}`, {}]))],
    ["too deep", { k: JSON.parse(`${'{"a":'.repeat(5_000)}1${"}".repeat(5_000)}`) }],
  ])(
    "answers of an excessive size are refused before anything runs: %s",
    async (_, inputResponses) => {
      const answer = await serve(instance(), { ...first, inputResponses });
      expect(answer).toMatchObject({ kind: "error", code: -32602 });
      expect(runs).toBe(0);
    },
  );

  test("an invalid number is refused before anything runs", async () => {
    const args = JSON.parse('{"amount":5,"x":1e400}') as unknown;
    expect(await serve(instance(), { ...first, arguments: args })).toMatchObject({ code: -32602 });
    expect(runs).toBe(0);
  });

  test("limits are checked when the app is created", () => {
    const limits = { rounds: Number.POSITIVE_INFINITY };
    expect(() => parley({ name: "x", version: "1", limits })).toThrow(
      "limits.rounds is Infinity. Pass a whole number from 1 to 1000000.",
    );
  });

  test("a checkpoint in the last round continues there", async () => {
    let request: RoundRequest = { ...first, target: "greedy", arguments: {} };
    for (let round = 1; round < 4; round += 1) {
      const { requestState } = await asked(request);
      request = { ...request, requestState };
    }
    expect(textOf(await serve(instance(), request))).toBe("all done");
  });

  test("a catch does not hide a question that no form can show", async () => {
    const answer = await serve(instance(), { ...first, target: "hidden", arguments: {} });
    expect(answer).toMatchObject({ kind: "error", data: { reason: "not_askable" } });
  });

  test("a step may call another tool of this process, even in development", async () => {
    const called = await play(nested, {});
    expect(called.text).toBe("paid 1 for nobody");
  });

  test("arguments that are nested too deeply are one clear error", async () => {
    let deep: unknown = 1;
    for (let level = 0; level < 100_000; level += 1) deep = [deep];
    const request = { ...first, arguments: { amount: 5, deep } };
    expect(await serve(instance(), request)).toMatchObject({ kind: "error", code: -32602 });
  });

  test("an error of the handler reaches the client, and a programming mistake appears only in the log", async () => {
    expect(await serve(instance(), { ...first, target: "throws", arguments: {} })).toEqual({
      kind: "complete",
      result: { content: [{ type: "text", text: "out of paper" }], isError: true },
    });
    const leg = { ...first, target: "sum", arguments: {} };
    expect(await serve(instance(), leg)).toEqual({
      kind: "complete",
      result: { content: [{ type: "text", text: '{"sum":3}' }], structuredContent: { sum: 3 } },
    });
  });
});

function flipped(token: string): string {
  const at = token.length - 30;
  return token.slice(0, at) + (token[at] === "A" ? "B" : "A") + token.slice(at + 1);
}
