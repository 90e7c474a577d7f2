// A till: the app that the wire tests call. It records what its handlers do, and keeps its log.

import { inputRequired, parley } from "mcp-parley";
import type { App, Logger, ParleyOptions } from "mcp-parley";
import { z } from "zod";
import { keys } from "../interop/errands.ts";

export interface Till {
  readonly app: App;
  /** The idempotency keys of the bodies that ran, in order. */
  readonly ran: string[];
  /** The handlers that were called, in order. A round calls one. */
  readonly called: string[];
  readonly logged: LogLine[];
}

export interface LogLine {
  readonly level: string;
  readonly message: string;
  readonly fields: Record<string, unknown> | undefined;
}

export function till(options: Partial<ParleyOptions> = {}): Till {
  const ran: string[] = [];
  const called: string[] = [];
  const { logger, logged } = keepingLogger();
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- `auth` and `principal` come together or not at all
  const app = parley({ name: "till", version: "1.0.0", keys, logger, ...options } as ParleyOptions);
  const amount = z.object({ amount: z.int() });

  app.tool("pay", { inputSchema: amount }, async ({ amount: sum }, ctx) => {
    called.push("pay");
    await ctx.step("quote", ({ idempotencyKey }) => void ran.push(idempotencyKey));
    const isSure = await ctx.confirm("sure", `Pay ${sum}?`);
    await ctx.step("pay", ({ idempotencyKey }) => void ran.push(idempotencyKey));
    return isSure ? `${ctx.principal ?? "nobody"} paid ${sum}` : "not paid";
  });
  app.tool("dictate", {}, (ctx) =>
    ctx.stream("words", async function* () {
      yield "one ";
      yield "two";
    }),
  );
  app.tool("refund", { inputSchema: amount }, async ({ amount: sum }, ctx) => {
    called.push("refund");
    const isSure = await ctx.confirm("sure", `Pay ${sum}?`);
    return isSure ? `refunded ${sum}` : "not refunded";
  });
  app.tool("every_kind", {}, async (ctx) => {
    called.push("every_kind");
    const [form, by, isSure, , sample, roots] = await Promise.all([
      ctx.ask(
        "form",
        "Who?",
        z.object({
          name: z.string().min(1).max(40).describe("In full"),
          mail: z.email().optional(),
          seats: z.int().min(1).max(9).default(1),
          extras: z.array(z.enum(["bike", "dog"])).max(2),
          news: z.boolean(),
        }),
      ),
      ctx.choose("by", "How?", ["Cash", { value: "card", title: "By card" }]),
      ctx.confirm("sure", "Sure?"),
      ctx.openUrl("page", "Sign in", "https://example.com/in"),
      ctx.sample("motto", { prompt: "A motto", systemPrompt: "Be brief.", maxTokens: 50 }),
      ctx.roots(),
    ]);
    return JSON.stringify({ form, by, isSure, sample: sample.text, roots });
  });
  app.tool("age", {}, async (ctx) => {
    called.push("age");
    const age = await ctx.ask("age", "How old?", z.int().min(18));
    return `${age}`;
  });
  app.tool("two", {}, async (ctx) => {
    called.push("two");
    const [one, other] = await Promise.all([ctx.ask("one", "One?"), ctx.ask("other", "Other?")]);
    return `${one} and ${other}`;
  });
  app.tool("hurry", {}, async (ctx) => {
    called.push("hurry");
    await ctx.ask("name", "Name?", z.string(), { timeoutMs: 60_000 });
    return "in time";
  });
  app.tool("outcome", {}, async (ctx) => {
    called.push("outcome");
    const outcome = await ctx.elicit("name", { message: "Name?", requestedSchema: z.string() });
    return JSON.stringify(outcome);
  });
  app.tool("halves", {}, async (ctx) => {
    called.push("halves");
    await ctx.step("first", ({ idempotencyKey }) => void ran.push(idempotencyKey));
    await ctx.checkpoint();
    await ctx.step("second", ({ idempotencyKey }) => void ran.push(idempotencyKey));
    return "both";
  });
  app.tool("sampler", {}, async (ctx) => {
    called.push("sampler");
    await ctx.step("before", ({ idempotencyKey }) => void ran.push(idempotencyKey));
    return (await ctx.sample("motto", "A motto")).text;
  });
  app.tool("chooser", {}, async (ctx) => {
    called.push("chooser");
    if (ctx.can("form")) return await ctx.ask("name", "Name?");
    if (ctx.can("sampling")) return (await ctx.sample("name", "A name")).text;
    return "asked nobody";
  });
  app.tool("form_then_sample", {}, async (ctx) => {
    called.push("form_then_sample");
    const name = await ctx.ask("name", "Name?");
    return (await ctx.sample("motto", `A motto for ${name}`)).text;
  });
  app.tool("by_hand", {}, (ctx) => {
    called.push("by_hand");
    if (Object.hasOwn(ctx.answers, "name")) return JSON.stringify(ctx.answers);
    const requestedSchema = { type: "object", properties: { name: { type: "string" } } } as const;
    return inputRequired({
      inputRequests: { name: inputRequired.elicit({ message: "Name?", requestedSchema }) },
      state: { secret: "kept" },
    });
  });
  app.tool("facts", {}, (ctx) => {
    called.push("facts");
    const { authInfo, clientInfo, meta, headers } = ctx.request ?? { meta: {} };
    return JSON.stringify({
      principal: ctx.principal,
      authInfo,
      clientInfo,
      meta,
      header: headers?.get("x-tenant"),
    });
  });
  app.tool("tells", {}, async (ctx) => {
    called.push("tells");
    ctx.progress(2);
    await ctx.ask("name", "Name?");
    ctx.progress(1);
    ctx.progress(3);
    return "told";
  });
  app.tool("free", {}, () => {
    called.push("free");
    return "asks nothing";
  });
  app.prompt("letter", { argsSchema: z.object({ tone: z.string() }) }, async ({ tone }, ctx) => {
    called.push("letter");
    return `A ${tone} letter to ${await ctx.ask("to", "To whom?")}`;
  });
  app.resource("today", "diary://today", { mimeType: "text/plain" }, async (_, ctx) => {
    called.push("today");
    return `a ${await ctx.ask("mood", "Which mood?")} day`;
  });
  app.resource("day", "diary://days/{day}", {}, async (_, { day }, ctx) => {
    called.push("day");
    return `${day} in ${await ctx.ask("pen", "Which pen?")}`;
  });
  return { app, ran, called, logged };
}

export function keepingLogger(): { readonly logger: Logger; readonly logged: LogLine[] } {
  const logged: LogLine[] = [];
  const note = (level: string) => (message: string, fields?: Record<string, unknown>) =>
    void logged.push({ level, message, fields });
  const logger: Logger = {
    debug: note("debug"),
    info: note("info"),
    warn: note("warn"),
    error: note("error"),
  };
  return { logger, logged };
}
