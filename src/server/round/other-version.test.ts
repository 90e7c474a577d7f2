// Rounds during a deployment (R17): two versions of an app serve the rounds of one call.

import { beforeEach, describe, expect, test } from "vitest";
import { z } from "zod";
import { newKey, parseKeys } from "../../token/keyring.ts";
import { MemoryStore } from "../../tasks/stores/memory.ts";
import { anotherInstance, registeredAs } from "../define/handles.ts";
import type { Tool } from "../define/tool.ts";
import { parley } from "../parley.ts";
import type { App } from "../app.ts";
import type { Context } from "../context/context.ts";
import { nodeEnvironment } from "../ops/environment.ts";
import type { Logger } from "../ops/logger.ts";
import type { RoundResponse } from "./request.ts";
import { serveRound } from "./round.ts";

const keyring = parseKeys(newKey("test"));
const logged: string[] = [];
const note = (message: string) => void logged.push(message);
const logger: Logger = { debug: note, info: note, warn: note, error: note };
const store = new MemoryStore();
let ran: string[] = [];

beforeEach(() => {
  logged.length = 0;
  ran = [];
});

type Register = (app: App) => Tool;
type Answers = Readonly<Record<string, object>>;
const yes = { action: "accept", content: { confirmed: true } };

/** A replica that serves this tool, with a version of its own. */
function replica(version: string, register: Register) {
  const { core, definition } = registeredAs(
    register(parley({ name: "shop", version, store, limits: { rounds: 8 } })),
  );
  const served = anotherInstance(core, {
    environment: { ...nodeEnvironment, stallMs: 0 },
    logger,
    keyring,
    store,
  });
  return (before?: RoundResponse, answers?: Answers) =>
    serveRound(served, definition, {
      target: definition.name,
      arguments: {},
      requestState: before?.kind === "input_required" ? before.result.requestState : undefined,
      inputResponses: answers,
      capabilities: { elicitation: { form: {} } },
      era: undefined,
      principal: undefined,
      facts: { meta: {} },
    });
}

const keysOf = (response: RoundResponse) =>
  response.kind === "input_required" ? Object.keys(response.result.inputRequests ?? {}) : undefined;
const textOf = (response: RoundResponse) =>
  response.kind === "complete" ? JSON.stringify(response.result) : JSON.stringify(response);
const step = (ctx: Context, key: string) => ctx.step(key, () => void ran.push(key));

/** Asks, pays, asks again. Only the wording of the first question differs between the versions. */
const reworded =
  (wording: string, config: { readonly once?: true } = {}): Register =>
  (app) =>
    app.tool("buy", config, async (ctx) => {
      await ctx.confirm("sure", wording);
      await step(ctx, "pay");
      await ctx.confirm("gift", "As a gift?");
      await step(ctx, "send");
      return "sent";
    });

describe.each([["in plain rounds", {}] as const, ["with once", { once: true }] as const])(
  "R17 P6: a round that meets the history of another version, %s",
  (_, config) => {
    const old = () => replica("1.0.0", reworded("Sure?", config));
    const next = () => replica("2.0.0", reworded("Are you sure?", config));

    test("is left to an instance of that version, and loses no answer", async () => {
      const asked = await next()(await next()(), { sure: yes });
      expect(keysOf(asked)).toEqual(["gift"]);
      const left = await old()(asked, { gift: yes });
      expect(keysOf(left)).toEqual([]);
      expect(logged.join()).toContain(
        'A round of "buy" is left to another instance, because version 2.0.0 brought the call this far and version 1.0.0 cannot follow it.',
      );
      const again = await old()(left);
      expect(keysOf(again)).toEqual([]);
      expect(textOf(await next()(again))).toContain("sent");
      expect(ran).toEqual(["pay", "send"]);
    });

    test("fails if three rounds in a row did not reach such an instance", async () => {
      let response = await next()(await next()(), { sure: yes });
      for (let yields = 1; yields <= 3; yields += 1) {
        response = await old()(response, { gift: yes });
        expect(keysOf(response)).toEqual([]);
      }
      expect(await old()(response)).toMatchObject({
        kind: "error",
        data: { reason: "history_changed" },
      });
      expect(ran).toEqual(["pay"]);
    });
  },
);

test("R17 P6: a round whose own version wrote the history fails at once, because then the handler varies", async () => {
  const one = replica("1.0.0", reworded("Sure?"));
  const another = replica("1.0.0", reworded("Are you sure?"));
  const asked = await one(await one(), { sure: yes });
  expect(await another(asked, { gift: yes })).toMatchObject({
    kind: "error",
    data: { reason: "history_changed" },
  });
});

test("R17 P6: so does the last round that the call may take", async () => {
  const endless =
    (wording: string): Register =>
    (app) =>
      app.tool("buy", {}, async (ctx) => {
        await ctx.confirm("sure", wording);
        await step(ctx, "pay");
        for (let n = 1; ; n += 1) await ctx.confirm(`q${n}`, "More?");
      });
  const next = replica("2.0.0", endless("Are you sure?"));
  let response = await next(await next(), { sure: yes });
  for (let n = 1; n <= 5; n += 1) response = await next(response, { [`q${n}`]: yes });
  expect(keysOf(response)).toEqual(["q6"]);
  expect(await replica("1.0.0", endless("Sure?"))(response, { q6: yes })).toMatchObject({
    data: { reason: "history_changed" },
  });
});

test("R17 P6: a schema that reads the arguments differently counts as the history of another version", async () => {
  const sized =
    (size: string): Register =>
    (app) =>
      app.tool(
        "buy",
        { inputSchema: z.object({ size: z.string().default(size) }) },
        async (args, ctx) => `${args.size} ${await ctx.confirm("sure", "Sure?")}`,
      );
  const old = replica("1.0.0", sized("M"));
  const left = await replica("2.0.0", sized("L"))(await old(), { sure: yes });
  expect(keysOf(left)).toEqual([]);
  expect(textOf(await old(left))).toContain("M true");
  expect(await replica("1.0.0", sized("L"))(await old(), { sure: yes })).toMatchObject({
    data: { reason: "history_changed" },
  });
});

/** Pays after a question and a step that version 2 has added. */
const added =
  (isNew: boolean, config: { readonly once?: true } = {}): Register =>
  (app) =>
    app.tool("buy", config, async (ctx) => {
      await ctx.confirm("sure", "Sure?");
      if (isNew && (await ctx.patched("vat"))) {
        await ctx.confirm("company", "For a company?");
        await step(ctx, "vat");
      }
      await step(ctx, "pay");
      await ctx.confirm("gift", "As a gift?");
      return "sent";
    });

describe("R17: ctx.patched in rounds", () => {
  const old = replica("1.0.0", added(false));
  const next = replica("2.0.0", added(true));

  test("a call that is past the place keeps its old path", async () => {
    const asked = await old(await old(), { sure: yes });
    expect(textOf(await next(asked, { gift: yes }))).toContain("sent");
    expect(ran).toEqual(["pay"]);
  });

  test("a call that reaches the place with the new code takes the new path, and keeps to it", async () => {
    const first = await next(await old(), { sure: yes });
    expect(keysOf(first)).toEqual(["company"]);
    const second = await next(first, { company: yes });
    expect(keysOf(second)).toEqual(["gift"]);
    expect(textOf(await next(second, { gift: yes }))).toContain("sent");
    expect(ran).toEqual(["vat", "pay"]);
  });

  test("P5: older code leaves a call that has taken the new path to newer code, even under the same version", async () => {
    const first = await next(await next(), { sure: yes });
    const left = await old(first, { company: yes });
    expect(keysOf(left)).toEqual([]);
    expect(ran).toEqual([]);
    const second = await next(left);
    expect(keysOf(second)).toEqual(["gift"]);
    const stale = replica("2.0.0", added(false));
    expect(keysOf(await stale(second, { gift: yes }))).toEqual([]);
    expect(textOf(await next(second, { gift: yes }))).toContain("sent");
    expect(ran).toEqual(["vat", "pay"]);
  });

  test("P5: if no newer code comes, older code goes on, and newer code follows it", async () => {
    let response = await next(await next(), { sure: yes });
    for (let yields = 1; yields <= 3; yields += 1) response = await old(response, { company: yes });
    response = await old(response);
    expect(keysOf(response)).toEqual(["gift"]);
    expect(textOf(await next(response, { gift: yes }))).toContain("sent");
    expect(ran).toEqual(["pay"]);
  });

  test("it works with once, and can be destructured", async () => {
    const careful = replica("2.0.0", (app) =>
      app.tool("buy", { once: true }, async ({ patched, step: run, confirm }) => {
        await confirm("sure", "Sure?");
        const isPatched = await patched("vat");
        await run("pay", () => void ran.push("pay"));
        return String(isPatched);
      }),
    );
    expect(textOf(await careful(await careful(), { sure: yes }))).toContain("true");
  });
});
