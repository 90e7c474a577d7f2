// One call is one trace: three rounds, the task that the call becomes, a worker that hands the task over, a worker that
// loses it, and a question of the task. Both clients add their spans.

import { context, SpanKind, SpanStatusCode, trace } from "@opentelemetry/api";
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks";
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  SimpleSpanProcessor,
} from "@opentelemetry/sdk-trace-base";
import type { ReadableSpan } from "@opentelemetry/sdk-trace-base";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { memoryStore, parley } from "mcp-parley";
import type { App, Store } from "mcp-parley";
import { connect, withTasks } from "mcp-parley/client";
import { afterAll, afterEach, beforeEach, expect, test, vi } from "vitest";
import { MemoryStore } from "../../src/tasks/stores/memory.ts";
import { keys, quiet } from "../interop/errands.ts";
import { patience } from "../patience.ts";

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

/** A gate that is always open. */
const noGate: Pick<Gate, "enter" | "released"> = { enter: () => {}, released: Promise.resolve() };

function replica(store: Store, makes = noGate, paints = noGate): App {
  const app = parley({ name: "traced", version: "1.0.0", keys, store, logger: quiet });
  app.tool("order", { task: "optional" }, async (ctx) => {
    const name = await ctx.ask("name", "Name?");
    const colour = await ctx.ask("colour", "Colour?");
    await ctx.background();
    await ctx.step("make", () => {
      makes.enter();
      return makes.released;
    });
    await ctx.step("paint", async () => {
      paints.enter();
      await paints.released;
      return colour;
    });
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

/** Calls the tool with this client, and resolves to its text. */
type Caller = (url: string) => Promise<string>;

const callers: Readonly<Record<string, Caller>> = {
  connect: async (url) => {
    const server = await connect(url, answers);
    open.push(() => server.close());
    return (await server.call("order")).text;
  },
  "the official client, with withTasks": async (url) => {
    const client = await plainClient(url);
    const { content } = await client.callTool({ name: "order" });
    const [block] = content;
    return block?.type === "text" ? block.text : "";
  },
};

/** What the plain client names as parent in its requests about tasks. */
const taskParents: unknown[] = [];

/** An official client. `onAsked` is called before each answer. */
async function plainClient(url: string, onAsked = () => {}): Promise<Client> {
  const client = new Client(
    { name: "plain", version: "1.0.0" },
    { capabilities: { elicitation: { form: {} } }, versionNegotiation: { mode: "auto" } },
  );
  client.setRequestHandler("elicitation/create", async ({ params }) => {
    onAsked();
    return answers.elicit({ key: params.message.slice(0, -1).toLowerCase() });
  });
  const watched: typeof fetch = (to, init) => {
    const { method = "", params } = JSON.parse(typeof init?.body === "string" ? init.body : "{}");
    if (method.startsWith("tasks/")) taskParents.push(params._meta.traceparent);
    return fetch(to, init);
  };
  const transport = new StreamableHTTPClientTransport(new URL(url), { fetch: watched });
  await client.connect(withTasks(transport));
  open.push(() => client.close());
  return client;
}

const leaseMs = 3_600_000;

test.each(Object.entries(callers))(
  "%s: three rounds, a task, a handover, a takeover and a question of the task are one trace",
  async (_name, order) => {
    let skewMs = 0;
    const store = new MemoryStore({ leaseMs, now: () => Date.now() + skewMs });
    const { url } = await replica(store).listen(0, { worker: false });
    const making = gate();
    const first = replica(store, making);
    await first.work();

    const result = order(url);
    await making.entered;
    const closed = first.close();
    making.release();
    await closed;
    // The second worker stops in the middle of a step, like a process that is paused, and its lease runs out.
    const painting = gate();
    await replica(store, noGate, painting).work();
    await painting.entered;
    skewMs += leaseMs + 1;
    const third = replica(store);
    await third.work();
    expect(await result).toBe("red true");
    painting.release();
    await vi.waitFor(() => expect(named("parley.run order")).toHaveLength(4), patience);

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

    // The first worker hands over, the third takes over, waits for the answer and ends the task. The second then finds that
    // the task is no longer its own.
    const runs = named("parley.run order");
    expect(runs.map((span) => span.attributes["parley.outcome"])).toEqual([
      "stopped",
      "waiting",
      "completed",
      "stopped",
    ]);
    for (const run of runs) {
      expect(run.parentSpanContext?.spanId).toBe(id(served[2]));
      expect(linked(run)).toContain(id(served[0]));
    }
    for (const round of served.slice(1)) expect(linked(round)).toContain(id(served[0]));
    const parents = (name: string) => named(name).map((span) => span.parentSpanContext?.spanId);
    expect(parents("parley.step make")).toEqual([id(runs[0])]);
    expect(parents("parley.step paint")).toEqual([id(runs[1]), id(runs[3])]);

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
  },
);

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

test("over withTasks, requests about a task name the span of the call", async () => {
  const store = memoryStore();
  const app = replica(store);
  const { url } = await app.listen(0);
  const client = await plainClient(url);
  taskParents.splice(0);
  await client.callTool({ name: "order" });
  const [call] = named("parley.call tools/call order");
  expect(new Set(taskParents)).toEqual(
    new Set([`00-${call?.spanContext().traceId}-${id(call)}-01`]),
  );
});

test("a call over withTasks belongs to the active span, or to the one that its _meta names", async () => {
  const { url } = await replica(memoryStore()).listen(0, { worker: false });
  const client = await plainClient(url);
  const own = trace.getTracer("test").startSpan("own");
  await context.with(trace.setSpan(context.active(), own), () =>
    client.callTool({ name: "refuse" }),
  );
  own.end();
  const traceparent = `00-${"1".repeat(32)}-${"2".repeat(16)}-01`;
  await client.callTool({ name: "parent", _meta: { traceparent } });
  const [refused] = named("parley.call tools/call refuse");
  expect(refused?.parentSpanContext?.spanId).toBe(own.spanContext().spanId);
  expect(refused).toMatchObject({
    status: { code: SpanStatusCode.ERROR },
    attributes: { "error.type": "tool_error" },
  });
  const [parented] = named("parley.call tools/call parent");
  expect(parented?.parentSpanContext).toMatchObject({ spanId: "2".repeat(16) });
  expect(parented?.status.code).toBe(SpanStatusCode.UNSET);
});

test("a call over withTasks that fails, or that the client gives up, sets the status of its span", async () => {
  const { url } = await replica(memoryStore()).listen(0, { worker: false });
  const stop = new AbortController();
  const client = await plainClient(url, () => stop.abort());
  await expect(client.callTool({ name: "nobody" })).rejects.toThrow("nobody");
  await expect(client.callTool({ name: "order" }, { signal: stop.signal })).rejects.toThrow(
    /abort/i,
  );
  await client.close();
  const [failed] = named("parley.call tools/call nobody");
  expect(failed).toMatchObject({
    status: { code: SpanStatusCode.ERROR },
    attributes: { "error.type": "-32602" },
  });
  const [left] = named("parley.call tools/call order");
  expect(left).toMatchObject({
    status: { code: SpanStatusCode.ERROR },
    attributes: { "error.type": "cancelled" },
  });
});
