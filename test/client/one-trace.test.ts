// One call as one trace: three rounds, the task that it becomes, two workers one after the other, and a question of the
// task, with the spans of the client.

import { context, SpanKind, SpanStatusCode, trace } from "@opentelemetry/api";
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks";
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  SimpleSpanProcessor,
} from "@opentelemetry/sdk-trace-base";
import type { ReadableSpan } from "@opentelemetry/sdk-trace-base";
import { memoryStore, parley } from "mcp-parley";
import type { App, Store } from "mcp-parley";
import { connect } from "mcp-parley/client";
import { afterAll, afterEach, beforeEach, expect, test } from "vitest";
import { keys, quiet } from "../interop/errands.ts";

const spans = new InMemorySpanExporter();
const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(spans)] });
trace.setGlobalTracerProvider(provider);
context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
afterAll(() => {
  trace.disable();
  context.disable();
});

const open: (() => Promise<void>)[] = [];
beforeEach(() => spans.reset());
afterEach(async () => {
  for (const close of open.splice(0).toReversed()) await close();
});

interface Gate {
  /** Resolves when the body runs. */
  readonly entered: Promise<void>;
  readonly enter: () => void;
  /** Resolves when the body may end. */
  readonly released: Promise<void>;
  readonly release: () => void;
}

function gate(): Gate {
  let enter = () => {};
  let release = () => {};
  const entered = new Promise<void>((resolve) => void (enter = resolve));
  const released = new Promise<void>((resolve) => void (release = resolve));
  return { entered, enter, released, release };
}

function replica(store: Store, { enter, released } = gate()): App {
  const app = parley({ name: "traced", version: "1.0.0", keys, store, logger: quiet });
  app.tool("order", { task: "optional" }, async (ctx) => {
    const name = await ctx.ask("name", "Name?");
    const colour = await ctx.ask("colour", "Colour?");
    await ctx.background();
    await ctx.step("make", () => {
      enter();
      return released;
    });
    await ctx.step("paint", () => colour);
    return `${name} ${await ctx.confirm("sure", "Sure?")}`;
  });
  app.tool("refuse", {}, () => ({ content: [{ type: "text", text: "no" }], isError: true }));
  app.tool("parent", {}, (ctx) => String(ctx.request?.meta["traceparent"]));
  open.push(() => app.close());
  return app;
}

const answers = {
  elicit: ({ key }: { readonly key: string }) => ({
    action: "accept" as const,
    content: key.startsWith("sure") ? { confirm: true } : { [key]: "red" },
  }),
};

const id = (span: ReadableSpan | undefined) => span?.spanContext().spanId;
const named = (name: string) => spans.getFinishedSpans().filter((span) => span.name === name);
const ofClient = (span: ReadableSpan) => span.kind === SpanKind.CLIENT;
const linked = ({ links }: ReadableSpan) => links.map((link) => link.context.spanId);

test("three rounds, a task, a handover to another worker and a question of the task are one trace", async () => {
  const store = memoryStore();
  const { url } = await replica(store).listen(0, { worker: false });
  const held = gate();
  const first = replica(store, held);
  await first.work();
  const server = await connect(url, answers);
  open.push(() => server.close());

  const result = server.call("order");
  await held.entered;
  const closed = first.close();
  held.release();
  await closed;
  await replica(store).work();
  expect((await result).text).toBe("red true");

  const all = spans.getFinishedSpans();
  const [call] = named("parley.call tools/call order");
  expect(new Set(all.map((span) => span.spanContext().traceId)).size).toBe(1);

  const sent = named("tools/call order").filter(ofClient);
  const served = named("tools/call order").filter((span) => !ofClient(span));
  expect(sent.map((span) => span.attributes["parley.round"])).toEqual([1, 2, 3]);
  expect(sent.map((span) => span.parentSpanContext?.spanId)).toEqual([
    id(call),
    id(call),
    id(call),
  ]);
  expect(served.map((span) => span.parentSpanContext?.spanId)).toEqual(sent.map(id));
  expect(served.map((span) => span.attributes["parley.outcome"])).toEqual([
    "input_required",
    "input_required",
    "task",
  ]);
  expect(sent.map((span) => span.attributes["parley.outcome"])).toEqual(
    served.map((span) => span.attributes["parley.outcome"]),
  );

  // The first worker hands over, the second waits for the answer, and then ends the task.
  const runs = named("parley.run order");
  expect(runs.map((span) => span.attributes["parley.outcome"])).toEqual([
    "stopped",
    "waiting",
    "completed",
  ]);
  for (const run of runs) {
    expect(run.parentSpanContext?.spanId).toBe(id(served[2]));
    expect(linked(run)).toContain(id(served[0]));
  }
  for (const round of served.slice(1)) expect(linked(round)).toContain(id(served[0]));
  expect(named("parley.step make")[0]?.parentSpanContext?.spanId).toBe(id(runs[0]));
  expect(named("parley.step paint")[0]?.parentSpanContext?.spanId).toBe(id(runs[1]));

  const serverSpans = [
    ...served,
    ...runs,
    ...named("parley.step make"),
    ...named("parley.step paint"),
  ];
  expect(new Set(serverSpans.map((span) => span.attributes["parley.call.id"])).size).toBe(1);
  const taskSpans = [...runs, ...named("parley.step make"), ...named("parley.step paint"), call];
  expect(new Set(taskSpans.map((span) => span?.attributes["parley.task.id"])).size).toBe(1);
  expect(all.filter((span) => span.attributes["parley.call.id"] === undefined)).toEqual([]);
});

test("a result with isError sets the status of the call's span, its round's and the server's", async () => {
  const { url } = await replica(memoryStore()).listen(0, { worker: false });
  const server = await connect(url);
  open.push(() => server.close());
  await server.call("refuse");
  const all = spans.getFinishedSpans();
  expect(all).toHaveLength(3);
  for (const { status, attributes } of all) {
    expect(status.code).toBe(SpanStatusCode.ERROR);
    expect(attributes["error.type"]).toBe("tool_error");
  }
});

test("a call that fails sets the status of its span, and a resumed call links to the span it began with", async () => {
  const { url } = await replica(memoryStore()).listen(0, { worker: false });
  const one = await connect(url, { elicit: "events" });
  const call = one.start("order");
  let ref = "";
  for await (const event of call) {
    if (event.type !== "asked") continue;
    ({ ref } = event);
    break;
  }
  await one.close();
  await expect(call.result()).rejects.toMatchObject({ code: "closed" });
  const [begun] = named("parley.call tools/call order");
  expect(begun?.status.code).toBe(SpanStatusCode.ERROR);
  expect(begun?.attributes["error.type"]).toBe("closed");

  const two = await connect(url, { elicit: "events" });
  open.push(() => two.close());
  const resumed = two.resume(ref);
  await resumed.cancel();
  await expect(resumed.result()).rejects.toMatchObject({ code: "cancelled" });
  const [, continued] = named("parley.call tools/call order");
  expect(continued && linked(continued)).toEqual([id(begun)]);
});

test("a request names the span of its round, and none if no SDK collects spans", async () => {
  const { url } = await replica(memoryStore()).listen(0, { worker: false });
  const server = await connect(url);
  open.push(() => server.close());
  const { text } = await server.call("parent");
  const [round] = named("tools/call parent").filter(ofClient);
  expect(text).toBe(`00-${round?.spanContext().traceId}-${id(round)}-01`);
  spans.reset();
  trace.disable();
  try {
    expect((await server.call("parent")).text).toBe("undefined");
    expect(spans.getFinishedSpans()).toEqual([]);
  } finally {
    trace.setGlobalTracerProvider(provider);
  }
});
