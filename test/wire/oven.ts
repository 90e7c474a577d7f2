// An oven: the app that the task tests call. Its tools take time, and some of them ask while they run.

import { ProtocolError } from "@modelcontextprotocol/server";
import { parley } from "mcp-parley";
import type { App, ParleyOptions, StepInfo, Tool } from "mcp-parley";
import type { TaskStore } from "mcp-parley/store";
import { z } from "zod";
import { MemoryStore } from "../../src/tasks/stores/memory.ts";
import { keys } from "../interop/errands.ts";
import { deferred } from "./deferred.ts";
import type { Deferred } from "./deferred.ts";
import { keepingLogger } from "./till.ts";
import type { LogLine } from "./till.ts";

export interface Oven {
  readonly app: App;
  readonly store: TaskStore;
  /** The names of the bodies that ran, in order. */
  readonly ran: string[];
  /** The handlers that were called, in order. A run calls one. */
  readonly called: string[];
  readonly logged: LogLine[];
  /** The tickets that `waitFor` and `openUrl` made. */
  readonly tickets: string[];
  /** `proof`, `heat` and `rise` wait for it. */
  readonly done: Deferred<void>;
  /** Why bodies of `proof` or `heat` were stopped, in order. */
  readonly stopped: string[];
  /** The handle of `proof`, for tests that look inside. */
  readonly proof: Tool;
}

export function oven({ store: given, ...options }: Partial<ParleyOptions> = {}): Oven {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- every store is one
  const store = (given ?? new MemoryStore()) as TaskStore;
  const ran: string[] = [];
  const called: string[] = [];
  const tickets: string[] = [];
  const stopped: string[] = [];
  const done = deferred();
  const { logger, logged } = keepingLogger();
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- `auth` and `principal` come together or not at all
  const app = parley({
    name: "oven",
    version: "1.0.0",
    keys,
    logger,
    store,
    ...options,
  } as ParleyOptions);
  const Loaf = z.object({ loaf: z.string() });
  const body = (name: string) => () => void ran.push(name);

  app.tool("bake", { inputSchema: Loaf, task: "optional" }, async ({ loaf }, ctx) => {
    called.push("bake");
    await ctx.background({ ttlMs: 60_000 });
    ctx.progress(1, 2, "kneading");
    await ctx.step("knead", body("knead"));
    const crust = await ctx.choose("crust", `Which crust for ${loaf}?`, ["thin", "thick"]);
    return `${loaf} with a ${crust} crust`;
  });
  app.tool("order", { inputSchema: Loaf, task: "optional" }, async ({ loaf }, ctx) => {
    called.push("order");
    const price = await ctx.step("price", () => (ran.push("price"), 3));
    if (!(await ctx.confirm("sure", `${loaf} for ${price}?`))) return "not ordered";
    const name = await ctx.ask("name", "For whom?");
    await ctx.background();
    await ctx.step("bake", body("bake"));
    const slices = await ctx.ask("slices", "How many slices?", z.int());
    return `${loaf} for ${name} in ${slices} slices`;
  });
  /** A body that runs until the test releases it or its signal aborts. */
  const held =
    (name: string) =>
    async ({ signal }: StepInfo) => {
      ran.push(name);
      const aborted = new Promise<void>((resolve) => {
        signal.addEventListener("abort", () => {
          const { reason }: { readonly reason?: string } = signal.reason;
          stopped.push(String(reason));
          resolve();
        });
      });
      await Promise.race([done.promise, aborted]);
    };
  const proof = app.tool("proof", { task: "required" }, async (ctx) => {
    called.push("proof");
    await ctx.background();
    await ctx.step("proof", held("proof"));
    return "proofed";
  });
  app.tool("heat", { task: "optional" }, async (ctx) => {
    called.push("heat");
    await ctx.step("heat", held("heat"));
    await ctx.background();
    return "hot";
  });
  app.tool("rise", { task: "optional" }, async (ctx) => {
    called.push("rise");
    ctx.progress(1, 3, "before");
    ctx.log("info", "before");
    await ctx.background();
    ctx.progress(2, 3, "rising");
    await ctx.step("rise", () => done.promise);
    ctx.log("info", { at: "the top" });
    return "risen";
  });
  app.tool(
    "weigh",
    { outputSchema: z.object({ grams: z.int() }), task: "optional" },
    async (ctx) => {
      called.push("weigh");
      await ctx.background();
      return { grams: 500 };
    },
  );
  app.tool("burn", { task: "optional" }, async (ctx) => {
    called.push("burn");
    await ctx.background();
    throw new Error("It is burnt.");
  });
  app.tool("short", { task: "optional" }, async (ctx) => {
    called.push("short");
    await ctx.background();
    throw new ProtocolError(4711, "The fuse is blown.", { fuse: 3 });
  });
  app.tool("quick", { task: "optional" }, () => {
    called.push("quick");
    return "done at once";
  });
  app.tool("two", { task: "required" }, async (ctx) => {
    called.push("two");
    await ctx.background();
    const [one, other] = await Promise.all([ctx.ask("one", "One?"), ctx.ask("other", "Other?")]);
    return `${one} and ${other}`;
  });
  app.tool("fussy", { task: "required" }, async (ctx) => {
    called.push("fussy");
    await ctx.background();
    return `${await ctx.ask("age", "How old?", z.int().min(18))}`;
  });
  app.tool("hurry", { task: "required" }, async (ctx) => {
    called.push("hurry");
    await ctx.background();
    return ctx.ask("name", "Name?", undefined, { timeoutMs: 50 });
  });
  app.tool("charge", { once: true }, async (ctx) => {
    called.push("charge");
    const sum = await ctx.ask("sum", "How much?", z.int());
    await ctx.step("charge", body("charge"));
    return `charged ${sum}`;
  });
  app.tool("every_kind", { task: "required" }, async (ctx) => {
    called.push("every_kind");
    await ctx.background();
    const [form, , sample, roots] = await Promise.all([
      ctx.ask("form", "Who?", z.object({ name: z.string(), news: z.boolean() })),
      ctx.openUrl("page", "Sign in", (ticket) => {
        if (ticket.length > 20) tickets.push(ticket);
        return `https://example.com/in?state=${ticket}`;
      }),
      ctx.sample("motto", { prompt: "A motto", maxTokens: 50 }),
      ctx.roots(),
    ]);
    return JSON.stringify({ form, sample: sample.text, roots });
  });
  app.tool("sampler", { task: "optional" }, async (ctx) => {
    called.push("sampler");
    await ctx.background();
    return (await ctx.sample("motto", "A motto")).text;
  });
  app.tool("approve", { task: "optional" }, async (ctx) => {
    called.push("approve");
    await ctx.background();
    const said = await ctx.waitFor("boss", z.object({ ok: z.boolean() }), {
      notify: ({ ticket }) => void tickets.push(ticket),
      timeoutMs: 3_600_000,
    });
    return said.ok ? "approved" : "refused";
  });
  app.tool(
    "nap",
    { inputSchema: z.object({ ms: z.int() }), task: "optional" },
    async ({ ms }, ctx) => {
      called.push("nap");
      await ctx.step("before", body("before"));
      await ctx.sleep("nap", ms);
      return "slept";
    },
  );
  app.tool("ask_boss", { task: "optional" }, async (ctx) => {
    called.push("ask_boss");
    const name = await ctx.ask("name", "Name?");
    const { ok } = await ctx.waitFor("boss", z.object({ ok: z.boolean() }), {
      notify: ({ ticket }) => void tickets.push(ticket),
    });
    return `${name} ${ok ? "may" : "may not"}`;
  });
  app.tool("ask_and_nap", { task: "optional" }, async (ctx) => {
    called.push("ask_and_nap");
    const [name] = await Promise.all([ctx.ask("name", "Name?"), ctx.sleep("nap", 60_000)]);
    return `${name} slept`;
  });
  app.tool("same_key", { task: "optional" }, async (ctx) => {
    called.push("same_key");
    await ctx.ask("name", "Name?");
    await ctx.background();
    return ctx.ask("name", "Name, again?");
  });
  app.tool("inquire", { task: "optional" }, async (ctx) => {
    called.push("inquire");
    return `a ${await ctx.choose("size", "Which size?", ["small", "large"])} one`;
  });
  app.tool("ferment", { task: "optional" }, () => {
    called.push("ferment");
    return "no time for that";
  });
  app.tool("plain", {}, () => {
    called.push("plain");
    return "not a task";
  });
  return { app, store, ran, called, logged, tickets, done, stopped, proof };
}
