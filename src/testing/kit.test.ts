// The behaviour of the test kit itself. The examples show how it is used.

import { parley } from "mcp-parley";
import type { UnansweredError } from "mcp-parley";
import { cancelled, crashTest, declined, play, timedOut } from "mcp-parley/testing";
import { describe, expect, test, vi } from "vitest";
import { z } from "zod";

const app = parley({ name: "kit", version: "1.0.0" });
const everything = app.tool(
  "everything",
  { outputSchema: z.object({ said: z.array(z.string()) }) },
  async (ctx) => {
    const said: string[] = [];
    said.push(await ctx.ask("text", "Text?"));
    said.push(String((await ctx.ask("form", "Form?", z.object({ n: z.int() }))).n));
    said.push(String(await ctx.confirm("sure", "Sure?")));
    await ctx.openUrl("page", "Open it", "https://example.com");
    said.push((await ctx.sample("poem", "A poem")).text);
    said.push((await ctx.roots()).map(({ uri }) => uri).join(" "));
    return { said };
  },
);
const script = {
  text: "hello",
  form: { n: 3 },
  sure: true,
  page: true,
  poem: "Roses",
  roots: [{ uri: "file:///home" }],
};

describe("play", () => {
  test("answers every kind of question from the script", async () => {
    const call = await play(everything, {}, script);
    expect(call.data.said).toEqual(["hello", "3", "true", "Roses", "file:///home"]);
    expect(call.asked.map(({ kind }) => kind)).toEqual([
      "form",
      "form",
      "form",
      "url",
      "sampling",
      "roots",
    ]);
    expect(call.rounds).toBe(7);
  });

  test("accepts refusals, and functions that answer the question", async () => {
    const name = app.tool(
      "name",
      {},
      async (ctx) => (await ctx.elicit("n", { message: "N?", requestedSchema: z.string() })).action,
    );
    expect((await play(name, {}, { n: declined })).text).toBe("decline");
    expect((await play(name, {}, { n: cancelled })).text).toBe("cancel");
    expect((await play(name, {}, ({ key }) => key)).text).toBe("accept");
  });

  test("says which answer is missing", async () => {
    await expect(play(everything, {}, { text: "hello" })).rejects.toThrow(
      'The script has no answer to question "form" (round 2): Form?',
    );
  });

  test("says which answer is refused, and why", async () => {
    await expect(play(everything, {}, { ...script, form: { n: "three" } })).rejects.toThrow(
      /The script's answer to question "form" was refused 2 times by round 4: Form\?\s+The last answer did not fit: "n"/,
    );
  });

  test("acts as a client that lacks a capability", async () => {
    const able = app.tool("able", {}, async (ctx) => String(ctx.can("form")));
    expect((await play(able, {})).text).toBe("true");
    const can = ["sampling", "roots"] as const;
    expect((await play(able, {}, {}, { client: { can } })).text).toBe("false");
    expect((await play(able, {}, {}, { client: "chat" })).text).toBe("false");
    expect((await play(able, {}, {}, { client: { can: ["form"] } })).text).toBe("true");
    // The former names still work.
    expect((await play(able, {}, {}, { as: "no-elicitation" })).text).toBe("false");
    await expect(play(everything, {}, script, { as: "no-sampling" })).rejects.toThrow(
      "this client does not support it",
    );
    await expect(play(able, {}, {}, { client: "relay" as never })).rejects.toThrow(
      'play: client: "relay" is not known. Use "modern", "task", "chat", "app" or { can: [ … ] }.',
    );
  });

  test("says what each kind of question takes, and refuses to decline what cannot be declined", async () => {
    const missing = (key: string) => play(everything, {}, { ...script, [key]: undefined as never });
    const expected = {
      text: "a value, declined, cancelled or timedOut",
      sure: "true, false, declined, cancelled or timedOut",
      page: "true, declined, cancelled or timedOut",
      poem: "a text, a whole result or timedOut",
      roots: "a list of roots or timedOut",
    };
    for (const [key, words] of Object.entries(expected)) {
      await expect(missing(key)).rejects.toThrow(`Add "${key}" to the script: ${words}.`);
    }
    for (const key of ["poem", "roots"] as const) {
      await expect(play(everything, {}, { ...script, [key]: declined })).rejects.toThrow(
        `The script declines or cancels "${key}", but only a form or a page can be refused. Write ${expected[key]}.`,
      );
    }
    const wrong = play(everything, {}, { ...script, poem: { role: "nobody" } });
    await expect(wrong).rejects.toThrow(
      /"poem" was refused 2 times by round \d+: A poem\nIt does not fit\. Write a text, a whole result or timedOut\.$/,
    );
  });

  test("lets questions time out, even if others are answered in the same round", async () => {
    const patient = app.tool("patient", {}, async (ctx) => {
      const silence = (error: UnansweredError) => error.reason;
      const first = await ctx
        .ask("first", "First?", z.string(), { timeoutMs: 3_600_000 })
        .catch(silence);
      const [left, right] = await Promise.all([
        ctx.ask("left", "Left?", z.string(), { timeoutMs: 30 * 86_400_000 }).catch(silence),
        ctx.ask("right", "Right?"),
      ]);
      return `${first} ${left} ${right}`;
    });
    const answers = { first: timedOut, left: timedOut, right: "here" } as const;
    const call = await play(patient, {}, answers);
    expect(call.text).toBe("timed_out timed_out here");
    expect(call.asked.map(({ key }) => key)).toEqual(["first", "right", "left"]);
    expect(call.transcript).toContain("gets    no answer in time");
    expect((await play(patient, {}, { ...answers, left: "late" })).text).toBe(
      "timed_out late here",
    );
    await crashTest(patient, {}, answers);
    await expect(play(patient, {}, { ...answers, right: timedOut })).rejects.toThrow(
      'The script lets question "right" time out, but the question has no time limit. Pass timeoutMs to the question, or give an answer.',
    );
  });

  test("shows a result in the form of the wire", async () => {
    const when = new Date(0);
    const dated = app.tool("dated", { outputSchema: z.looseObject({}) }, () => ({
      when,
      missing: undefined,
    }));
    const { data, result } = await play(dated, {});
    expect(data).toStrictEqual({ when: when.toJSON() });
    expect(JSON.parse(JSON.stringify(result))).toStrictEqual(result);
    for (const [name, value] of Object.entries({ nan: Number.NaN, big: 1n, loop: new Map() })) {
      const odd = app.tool(name, { outputSchema: z.looseObject({}) }, () => ({ value }));
      await expect(play(odd, {})).rejects.toMatchObject({ code: "bad_result" });
    }
  });

  test("plays prompts and resources", async () => {
    const prompt = app.prompt(
      "greet",
      { argsSchema: z.object({ who: z.string() }) },
      async ({ who }, ctx) => `${await ctx.ask("how", "How?")}, ${who}`,
    );
    expect((await play(prompt, { who: "Ada" }, { how: "Hello" })).text).toBe("Hello, Ada");
    const note = app.resource(
      "note",
      "notes://{id}",
      {},
      async (_uri, { id }, ctx) => `${id} ${await ctx.confirm("sure", "Read it?")}`,
    );
    expect((await play(note, "notes://7", { sure: true })).text).toBe("7 true");
  });

  test("works with fake timers, and skips the time that a handler waits", async () => {
    vi.useFakeTimers();
    const retried = app.tool("retried", {}, async (ctx) => {
      let tries = 0;
      await ctx.step("s", () => ((tries += 1) < 3 ? Promise.reject(new Error("no")) : 1), {
        retries: 5,
        backoffMs: 3_600_000,
      });
      return String(tries);
    });
    const call = await play(retried, {});
    vi.useRealTimers();
    expect(call.text).toBe("3");
    expect(call.ran("s")).toBe(1);
  });
});

describe("crashTest", () => {
  test("finds a handler that does something different each time", async () => {
    let n = 0;
    const unsteady = app.tool(
      "unsteady",
      {},
      async (ctx) => `${await ctx.confirm("go", "Go?")} ${(n += 1)}`,
    );
    await expect(crashTest(unsteady, {}, { go: true })).rejects.toThrow(
      /response 1 lost: the call ended differently: .*"true \d+".*\n(.*\n)*Without a mishap, it ended with .*"true \d+".*\nEach play is a call of its own, so/,
    );
  });

  test("finds a question whose wording depends on a clock", async () => {
    let clock = 0;
    const drifting = app.tool("drifting", {}, async (ctx) => ctx.ask("q", `At ${(clock += 1)}?`));
    await expect(crashTest(drifting, {}, () => "now")).rejects.toThrow(/changed twice/);
  });

  test("does not count the retries of a step as repeats", async () => {
    let calls = 0;
    const retried = app.tool("retrying", {}, async (ctx) => {
      await ctx.confirm("go", "Go?");
      await ctx.step("s", () => ((calls += 1) % 2 === 1 ? Promise.reject(new Error("no")) : 1), {
        retries: 1,
      });
      return "done";
    });
    const { repeats } = await crashTest(retried, {}, { go: true }, { mayRepeat: ["s"] });
    expect(repeats.every(({ times }) => times === 2)).toBe(true);
  });

  test("finds a step that runs again without using its idempotency key, unless it may repeat", async () => {
    const careless = app.tool("careless", {}, async (ctx) => {
      await ctx.confirm("go", "Go?");
      await ctx.step("pay", () => 1);
      return "paid";
    });
    const failed = crashTest(careless, {}, { go: true });
    await expect(failed).rejects.toThrow(
      'response 2 lost: step "pay" ran 2 times without using its idempotency key, so no service can detect the repetition. ' +
        "Pass the key to the service that the step calls, or add the step to mayRepeat if it only reads.",
    );
    await expect(failed).rejects.toThrow(/^"careless" does not survive 4 of 9 mishaps:/);
    const { repeats } = await crashTest(careless, {}, { go: true }, { mayRepeat: ["pay"] });
    expect(repeats[0]).toEqual({
      step: "pay",
      when: "response 2 lost",
      times: 2,
      key: "same",
      usesKey: false,
    });
    const careful = app.tool("careful", {}, async (ctx) => {
      await ctx.confirm("go", "Go?");
      await ctx.step("pay", ({ idempotencyKey }) => idempotencyKey.length);
      return "paid";
    });
    const { repeats: harmless } = await crashTest(careful, {}, { go: true });
    expect(harmless.length).toBeGreaterThan(0);
    expect(harmless.every(({ usesKey }) => usesKey)).toBe(true);
  });

  test("counts each mishap once, however many steps it repeats", async () => {
    const twice = app.tool("twice", {}, async (ctx) => {
      await ctx.step("first", () => 1);
      await ctx.step("second", () => 2);
      await ctx.confirm("go", "Go?");
      return "done";
    });
    const text = await crashTest(twice, {}, { go: true }).then(
      () => "",
      (error: Error) => error.message,
    );
    const [, bad, all] = /does not survive (\d+) of (\d+) mishaps/.exec(text) ?? [];
    expect(Number(bad)).toBeGreaterThan(0);
    expect(Number(bad)).toBeLessThanOrEqual(Number(all));
    expect(text.match(/^  /gm)?.length).toBeGreaterThan(Number(bad));
  });

  test("calls reset before each play", async () => {
    const reset = vi.fn();
    const plain = app.tool("plain", {}, async (ctx) => String(await ctx.confirm("go", "Go?")));
    const { plays } = await crashTest(plain, {}, { go: true }, { reset });
    expect(reset).toHaveBeenCalledTimes(plays);
  });
});

describe("a call that goes to the background", () => {
  const background = parley({ name: "kit", version: "1.0.0" });
  const rent = background.tool(
    "rent",
    { inputSchema: z.object({ size: z.string() }), task: "optional" },
    async ({ size }, ctx) => {
      if (!(await ctx.confirm("ok", `Rent a ${size}?`))) return "not rented";
      await ctx.background();
      await ctx.step("rent", ({ idempotencyKey }) => idempotencyKey.length);
      await ctx.sleep("boot", 3_600_000);
      const name = await ctx.ask("name", "What is it called?", z.string().max(5));
      const boss = await ctx.waitFor("boss", z.boolean(), { notify: () => {} });
      return `${name} ${boss}`;
    },
  );
  const answers = { ok: true, name: "vm-1", boss: true };

  test("is played as a task, with steps that run once, sleeps that take no time, and answers from the script", async () => {
    const played = await play(rent, { size: "XL" }, answers, { as: "task" });
    expect(played.text).toBe("vm-1 true");
    expect(played.rounds).toBe(2);
    expect(played.ran("rent")).toBe(1);
    expect(played.task?.statuses).toEqual(["working", "input_required", "working", "completed"]);
    expect(played.asked.map(({ key, kind }) => [key, kind])).toEqual([
      ["ok", "form"],
      ["name", "form"],
      ["boss", "external"],
    ]);
    expect(played.transcript).toMatchInlineSnapshot(`
      "rent {"size":"XL"}
      round 1
        asks    ok: Rent a XL?
        gets    {"action":"accept","content":{}}
      round 2
      in the background
        runs    rent
      in the background
        replays rent
        asks    name: What is it called?
        gets    {"action":"accept","content":{"name":"vm-1"}}
      in the background
        replays rent
        asks    boss (external): Waits for a delivery
        gets    true
      in the background
        replays rent
      done: vm-1 true"
    `);
  });

  test("asks again after an invalid answer, under the same key for the script", async () => {
    const names = ["far too long", "vm-2"];
    const played = await play(
      rent,
      { size: "XL" },
      { ...answers, name: () => names.shift() ?? "" },
      { as: "task" },
    );
    expect(played.text).toBe("vm-2 true");
  });

  test("a delivered value that does not fit is refused with its reason, and the question stays open", async () => {
    const values: unknown[] = ["perhaps", true];
    const wavering = { ...answers, boss: () => values.shift() as boolean };
    const played = await play(rent, { size: "XL" }, wavering, { as: "task" });
    expect(played.text).toBe("vm-1 true");
    expect(played.asked.filter(({ key }) => key === "boss").map(({ message }) => message)).toEqual([
      "Waits for a delivery",
      expect.stringMatching(/^Waits for a delivery\. The last value did not fit: .*boolean/),
    ]);
  });

  test("is played in rounds for a client that cannot follow tasks", async () => {
    const decided = { ...answers, ok: false };
    const played = await play(rent, { size: "XL" }, decided, { client: "modern" });
    expect(played.text).toBe("not rented");
    expect(played.task).toBeUndefined();
  });

  test("is played as a task by default, so that a scripted waitFor is not skipped", async () => {
    const played = await play(rent, { size: "XL" }, answers);
    expect(played.text).toBe("vm-1 true");
    expect(played.task?.statuses.at(-1)).toBe("completed");
    await expect(play(rent, { size: "XL" }, { ok: true, name: "vm-1" })).rejects.toThrow(
      'Add "boss" to the script: the value that app.deliver brings, or timedOut.',
    );
    await expect(play(rent, { size: "XL" }, { ...answers, boss: declined })).rejects.toThrow(
      'The script declines or cancels "boss", but only a form or a page can be refused. Write the value that app.deliver brings, or timedOut.',
    );
  });

  test("can time out", async () => {
    const patient = background.tool("patient", { task: "optional" }, async (ctx) => {
      await ctx.background();
      const silence = (error: UnansweredError) => error.reason;
      const notify = () => {};
      const [name, boss, other] = await Promise.all([
        ctx.ask("name", "Name?", z.string(), { timeoutMs: 60_000 }).catch(silence),
        ctx.waitFor("boss", z.boolean(), { notify, timeoutMs: 3_600_000 }).catch(silence),
        ctx.ask("other", "Other?"),
      ]);
      return `${name} ${boss} ${other}`;
    });
    const silent = { name: timedOut, boss: timedOut, other: "here" } as const;
    const played = await play(patient, {}, silent);
    expect(played.text).toBe("timed_out timed_out here");
    expect(played.asked.map(({ key }) => key).toSorted()).toEqual(["boss", "name", "other"]);
    await crashTest(patient, {}, silent);
    await expect(play(patient, {}, { ...silent, other: timedOut })).rejects.toThrow(
      'The script lets question "other" time out, but the question has no time limit.',
    );
  });

  test("crashTest kills its worker at every body and reports the repeats", async () => {
    const { plays, repeats } = await crashTest(rent, { size: "XL" }, answers, { as: "task" });
    expect(plays).toBe(10);
    expect(
      repeats.some(({ step, when }) => step === "rent" && when.startsWith("worker killed after")),
    ).toBe(true);
  });

  test("a tool with task: required is played as a task by default", async () => {
    const only = background.tool("only", { task: "required" }, async (ctx) => {
      await ctx.background();
      return ctx.task === undefined ? "no" : "yes";
    });
    expect((await play(only, {})).text).toBe("yes");
  });
});
