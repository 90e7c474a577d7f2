// The messages for mistakes in a handler, word for word, as `play` reports them.

import { toStandardJsonSchema } from "@valibot/to-json-schema";
import { inputRequired, parley, ParleyError } from "mcp-parley";
import type { ToolContext } from "mcp-parley";
import { oauth } from "mcp-parley/oauth";
import { play } from "mcp-parley/testing";
import * as v from "valibot";
import { expect, test } from "vitest";
import { z } from "zod";

/** Plays a tool with this handler and returns the error. */
async function mistake(
  name: string,
  handler: (ctx: ToolContext) => Promise<string>,
  script = {},
): Promise<ParleyError> {
  const app = parley({ name: "mistakes", version: "1.0.0" });
  const tool = app.tool(name, {}, handler);
  const error: unknown = await play(tool, {}, script).catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(ParleyError);
  return error as ParleyError;
}

/** Replaces line numbers. The message must name a line of this file, but not a particular one. */
const withoutLines = (message: string) =>
  message.replaceAll(/mistakes\.test\.ts:\d+/g, "FILE:LINE");

test("not_awaited", async () => {
  const error = await mistake("deploy", async (ctx) => {
    if (!ctx.confirm("go", "Deploy?")) return "not deployed";
    await ctx.step("deploy", () => {});
    return "deployed";
  });
  expect(error.code).toBe("not_awaited");
  expect(withoutLines(error.message)).toBe(
    'Question "go" (FILE:LINE) was asked but not awaited before step "deploy" (FILE:LINE) began, so the handler would not wait for the answer.\n' +
      'Write `await ctx.confirm("go", …)`. To ask while a step runs, use Promise.all([ctx.ask(…), ctx.step(…)]).',
  );
});

test("duplicate_key", async () => {
  const error = await mistake("import_rows", async (ctx) => {
    for (const row of [1, 2]) await ctx.step("save", () => row);
    return "imported";
  });
  expect(error.code).toBe("duplicate_key");
  expect(withoutLines(error.message)).toBe(
    'Key "save" is used twice in one run of "import_rows": by a step at FILE:LINE and by a step at FILE:LINE.\n' +
      "Each question and step of a call needs its own key. In a loop, add what differs: `save-${i}`.",
  );
});

test("ask_in_step, even after an await inside the body", async () => {
  const error = await mistake("import_rows", async (ctx) => {
    await ctx.step("save", async () => {
      await Promise.resolve();
      await ctx.confirm("ok", "Ok?");
    });
    return "saved";
  });
  expect(error.code).toBe("ask_in_step");
  expect(withoutLines(error.message)).toBe(
    'Question "ok" is asked inside step "save" (FILE:LINE). A step runs once and cannot wait for a person.\n' +
      "Ask first, then use the answer in the step.",
  );
});

test("not_askable, if the types could not prevent it", async () => {
  const address: z.ZodType = z.object({ city: z.string() });
  const error = await mistake("ship", async (ctx) => {
    await ctx.ask("shipping", "Where to?", z.object({ address }));
    return "shipped";
  });
  expect(error.code).toBe("not_askable");
  expect(error.message).toBe(
    'Question "shipping" cannot be shown as a form, because "address" is an object. A form has one level of strings, numbers, booleans and choices. ' +
      "Make its members fields of their own, or ask a second question.",
  );
});

test("not_askable, for valibot without its JSON Schema", async () => {
  const wrapped = toStandardJsonSchema(v.picklist(["S", "M"]));
  const raw = v.picklist(["S", "M"]) as unknown as typeof wrapped;
  const error = await mistake("order", async (ctx) => ctx.ask("size", "Which size?", raw));
  expect(error.code).toBe("not_askable");
  expect(error.message).toBe(
    'Question "size" cannot be shown as a form, because this valibot schema has no JSON Schema, which the form is made from. ' +
      "Wrap it: toStandardJsonSchema(schema) from @valibot/to-json-schema.",
  );
});

test("bad_key, for a key that could never be answered", async () => {
  const message =
    '"greet" uses the key "__proto__". A key is a string of 1 to 200 characters without "~", which is reserved for Parley, and not "__proto__".';
  const asked = await mistake("greet", async (ctx) => ctx.ask("__proto__", "Name?"));
  expect([asked.code, asked.message]).toEqual(["bad_key", message]);
  const app = parley({ name: "mistakes", version: "1.0.0" });
  const byHand = app.tool("greet", {}, () => {
    const name = inputRequired.listRoots();
    return inputRequired({ inputRequests: { ["__proto__"]: name } });
  });
  await expect(play(byHand, {})).rejects.toThrow(message);
});

test("ctx_after_return, for a promise that is kept from an earlier run", async () => {
  let kept: Promise<string> | undefined;
  const error = await mistake("greet", async (ctx) => await (kept ??= ctx.ask("name", "Name?")), {
    name: "Ada",
  });
  expect(error.code).toBe("ctx_after_return");
  expect(withoutLines(error.message)).toBe(
    '"greet" awaits question "name" (FILE:LINE), which it has kept from an earlier run. That run has ended, so this promise never gets a value.\n' +
      "Call ctx in every run, and do not keep its promises outside the handler.",
  );
});

test("not_json", async () => {
  const error = await mistake("import_rows", async (ctx) => {
    await ctx.step("seen", () => ({ byId: new Map() }));
    return "seen";
  });
  expect(error.code).toBe("not_json");
  expect(withoutLines(error.message)).toBe(
    'Step "seen" (FILE:LINE) returned a Map at result.byId, which JSON cannot preserve. The result of a step is stored as JSON between rounds.\n' +
      "Return plain data, for example Object.fromEntries(map).",
  );
});

test("token_too_large", async () => {
  const error = await mistake(
    "release_notes",
    async (ctx) => {
      await ctx.step("commits", () => "c".repeat(28 * 1024));
      return ctx.ask("edit", "Edit?");
    },
    { edit: "" },
  );
  expect(error.code).toBe("token_too_large");
  expect(error.message).toBe(
    'The state of "release_notes" is 38 KiB, and the limit is 32 KiB. The largest parts: step "commits" 29 KiB. ' +
      "Return ids instead of contents from steps, or pass parley() a store, which then holds the state.",
  );
  const stream = await mistake(
    "release_notes",
    async (ctx) => {
      await ctx.stream("draft", () => yields("c".repeat(28 * 1024)) as AsyncIterable<string>);
      return ctx.ask("edit", "Edit?");
    },
    { edit: "" },
  );
  expect(stream.message).toContain('The largest parts: stream "draft" 29 KiB.');
});

test("unstable_question", async () => {
  let clock = 0;
  const error = await mistake(
    "remind",
    async (ctx) => ctx.ask("when", `It is ${(clock += 1)} o'clock. When?`),
    { when: "later" },
  );
  expect(error.code).toBe("unstable_question");
  expect(withoutLines(error.message)).toMatch(
    /^Question "when" \(FILE:LINE\) of "remind" has changed twice in this call/,
  );
});

test("bad_option, from JavaScript: a task-only feature in a tool that is never a task", async () => {
  for (const verb of ["background", "sleep", "waitFor"] as const) {
    const error = await mistake("report", async (ctx) => {
      const untyped = ctx as unknown as Record<string, (...args: unknown[]) => Promise<void>>;
      await untyped[verb]?.("key", z.string(), { notify: () => {} });
      return "done";
    });
    expect(error.code).toBe("bad_option");
    expect(error.message).toBe(
      `ctx.${verb}() works only in tools that may become tasks. Add task: "optional" to this tool's config.`,
    );
  }
});

test("bad_option: a stream that is none, or that yields something else", async () => {
  const cases: [message: string, handler: (ctx: ToolContext) => Promise<unknown>][] = [
    [
      'Stream "draft" returned a string. Its body returns an AsyncIterable or a ReadableStream: write it as an async function*, or use ctx.step and ctx.emit.',
      (ctx) => ctx.stream("draft", () => "text" as never),
    ],
    [
      'Stream "pictures" yielded a content block. Pass { blocks: true } as its third argument, or yield text.',
      (ctx) => ctx.stream("pictures", () => yields({ type: "text", text: "" }) as never),
    ],
    [
      'Stream "pictures" has blocks: true but yielded a string. Yield { type: "text", text }.',
      (ctx) => ctx.stream("pictures", () => yields("text") as never, { blocks: true }),
    ],
    [
      'Stream "rows" yielded a number. Yield text or UTF-8 bytes.',
      (ctx) => ctx.stream("rows", () => yields(1) as never),
    ],
    [
      'ctx.emit("rows") takes a text or one content block, and got an array. Emit the blocks one by one, each under its own key.',
      (ctx) => ctx.emit("rows", [] as never),
    ],
    [
      'Stream "draft" has no body. Pass a function as the second argument of ctx.stream.',
      (ctx) => ctx.stream("draft", undefined as never),
    ],
  ];
  for (const [message, handler] of cases) {
    // A `catch` in the handler does not hide the mistake.
    const error = await mistake("report", async (ctx) => String(await handler(ctx).catch(() => 0)));
    expect(error.message).toBe(message);
    expect(error.code).toBe("bad_option");
  }
});

async function* yields(piece: unknown) {
  yield piece;
}

test("not_json and not_awaited name a stream", async () => {
  const error = await mistake("report", async (ctx) => {
    await ctx.emit("chart", { type: "text", text: 1n } as never);
    return "";
  });
  expect(error.message).toBe(
    'Step "chart" returned a bigint at block.text, which JSON cannot preserve. The result of a step is stored as JSON between rounds.\nReturn plain data, for example String(value).',
  );
  const forgotten = await mistake("report", async (ctx) => {
    void ctx.emit("chart", "text");
    return "";
  });
  expect(forgotten.message).toContain('Write `await ctx.emit("chart", …)`.');
});

test("from JavaScript: the older way to register a tool is refused at once", () => {
  const app = parley({ name: "mistakes", version: "1.0.0" });
  const register = app.tool as unknown as (...args: unknown[]) => void;
  expect(() => register("t", "a tool", { id: z.int() }, async () => "done")).toThrow(
    'app.tool("t") takes a name, a config object and a function: (name, { … }, handler).',
  );
});

test("from JavaScript: a question without a key, an app without a name, and an invalid port are refused", async () => {
  const error = await mistake("report", async (ctx) => {
    const confirm = ctx.confirm as unknown as (message: string) => Promise<boolean>;
    return String(await confirm("Go?"));
  });
  expect(error.message).toBe(
    'ctx.confirm("Go?") has no message to show. Write ctx.confirm(key, message, …).',
  );
  const make = parley as unknown as (options?: object) => void;
  for (const options of [undefined, {}, { name: "" }]) {
    expect(() => make(options)).toThrow("parley() needs a name and a version");
  }
  const app = parley({ name: "mistakes", version: "1.0.0" });
  const port = "3000x" as unknown as number;
  await expect(app.listen(port)).rejects.toThrow(
    "3000x is not a valid port: app.listen takes a number from 0 (any free port) to 65535.",
  );
});

test("bad_option: an account at a provider that the app does not have", async () => {
  const google = oauth({ name: "google", issuer: "https://id.example", clientId: "id" });
  const error = await mistake("read", async (ctx) => (await ctx.connect(google)).provider);
  expect(error.code).toBe("bad_option");
  expect(error.message).toBe(
    'ctx.connect: "google" is not among the connections of this app. Add it: parley({ connections: [google] }).',
  );
});

test("from JavaScript: the name of a provider in place of the provider", async () => {
  const app = parley({ name: "mistakes", version: "1.0.0" });
  const tool = app.tool("read", {}, async (ctx) => {
    // @ts-expect-error -- it takes what oauth() returned
    return (await ctx.connect("github")).provider;
  });
  expect((await play(tool, {})).text).toBe(
    'ctx.connect takes what oauth() returned: ctx.connect(github), not ctx.connect("github").',
  );
});
