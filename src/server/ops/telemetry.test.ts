// Traces and metrics, with the real API and SDK of OpenTelemetry.

import { context, metrics, SpanKind, SpanStatusCode, trace } from "@opentelemetry/api";
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks";
import {
  AggregationTemporality,
  DataPointType,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from "@opentelemetry/sdk-metrics";
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  SimpleSpanProcessor,
} from "@opentelemetry/sdk-trace-base";
import { afterAll, expect, test } from "vitest";
import { newKey } from "../../token/keyring.ts";
import { play } from "../../testing/play.ts";
import { registeredAs } from "../define/handles.ts";
import { parley } from "../parley.ts";
import { serveRound } from "../round/round.ts";

const spans = new InMemorySpanExporter();
trace.setGlobalTracerProvider(
  new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(spans)] }),
);
context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
const measured = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
const reader = new PeriodicExportingMetricReader({
  exporter: measured,
  exportIntervalMillis: 3_600_000,
});
metrics.setGlobalMeterProvider(new MeterProvider({ readers: [reader] }));

afterAll(async () => {
  await reader.shutdown();
  trace.disable();
  metrics.disable();
  context.disable();
});

const quiet = () => {};
const logger = { debug: quiet, info: quiet, warn: quiet, error: quiet };
const app = parley({ name: "traced", version: "1.0.0", keys: newKey("test"), logger });
const ask = app.tool("ask", {}, async (ctx) => {
  const name = await ctx.ask("name", "Name?");
  await ctx.step("greet", () => trace.getTracer("author").startSpan("greeting").end());
  return `${name} ${await ctx.confirm("sure", "Sure?")}`;
});

test("each round has a span, and later spans are linked to the first through the sealed state", async () => {
  spans.reset();
  await play(ask, {}, { name: "Ada", sure: true });
  const rounds = spans.getFinishedSpans().filter(({ name }) => name === "tools/call ask");
  expect(rounds.map(({ attributes }) => attributes["parley.round"])).toEqual([1, 2, 3]);
  expect(rounds.map(({ attributes }) => attributes["parley.outcome"])).toEqual([
    "input_required",
    "input_required",
    "complete",
  ]);
  const [first, ...later] = rounds;
  expect(first?.links).toEqual([]);
  for (const { links } of later) {
    expect(links.map(({ context: { spanId } }) => spanId)).toEqual([first?.spanContext().spanId]);
  }
});

test("spans of a handler are children of its step, and the step is one of its round", async () => {
  spans.reset();
  await play(ask, {}, { name: "Ada", sure: true });
  const finished = spans.getFinishedSpans();
  const second = finished.find(({ attributes }) => attributes["parley.round"] === 2);
  const step = finished.find(({ name }) => name === "parley.step greet");
  const greeting = finished.find(({ name }) => name === "greeting");
  expect(step?.parentSpanContext?.spanId).toBe(second?.spanContext().spanId);
  expect(greeting?.parentSpanContext?.spanId).toBe(step?.spanContext().spanId);
  expect(step?.attributes).toMatchObject({ "parley.step.key": "greet", "parley.step.attempt": 1 });
});

test("every span carries the id of its call", async () => {
  spans.reset();
  await play(ask, {}, { name: "Ada", sure: true });
  const ids = spans
    .getFinishedSpans()
    .filter(({ name }) => name !== "greeting")
    .map(({ attributes }) => attributes["parley.call.id"]);
  expect(ids).toHaveLength(4);
  expect(new Set(ids)).toEqual(new Set([expect.stringMatching(/^[\w-]{16,}$/)]));
});

test("a round is named and labelled as the conventions for MCP say", async () => {
  spans.reset();
  await play(ask, {}, { name: "Ada", sure: true });
  const [first] = spans.getFinishedSpans();
  expect(first?.kind).toBe(SpanKind.SERVER);
  expect(first?.attributes).toMatchObject({
    "mcp.method.name": "tools/call",
    "gen_ai.operation.name": "execute_tool",
    "gen_ai.tool.name": "ask",
  });
});

const sender = { traceId: "0af7651916cd43dd8448eb211c80319c", spanId: "b7ad6b7169203331" };
const traceparent = `00-${sender.traceId}-${sender.spanId}-01`;

async function roundOf(tool: typeof ask, meta: Readonly<Record<string, unknown>>) {
  spans.reset();
  const found = registeredAs(tool);
  await serveRound(found.core, found.definition, {
    target: found.definition.name,
    arguments: {},
    capabilities: { elicitation: { form: {} } },
    principal: undefined,
    facts: { meta },
  });
  return spans.getFinishedSpans().find(({ name }) => name.startsWith("tools/call"));
}

test("the sender's span in _meta is the parent of a round, and the span of the transport is a link", async () => {
  const transport = trace.getTracer("http").startSpan("POST");
  const round = await context.with(trace.setSpan(context.active(), transport), () =>
    roundOf(ask, { traceparent, tracestate: "vendor=1" }),
  );
  expect(round?.spanContext().traceId).toBe(sender.traceId);
  expect(round?.parentSpanContext).toMatchObject({ ...sender, isRemote: true });
  expect(round?.parentSpanContext?.traceState?.serialize()).toBe("vendor=1");
  expect(round?.links.map((link) => link.context.spanId)).toEqual([transport.spanContext().spanId]);
});

test.each([
  7,
  "",
  "nonsense",
  `00-${"0".repeat(32)}-${sender.spanId}-01`,
  `ff-${traceparent.slice(3)}`,
])("an invalid traceparent is ignored: %j", async (invalid) => {
  const round = await roundOf(ask, { traceparent: invalid });
  expect(round?.parentSpanContext).toBeUndefined();
});

const failing = app.tool("failing", {}, async (ctx) => {
  await ctx.step("break", () => {
    throw new RangeError("out of range");
  });
  return "never";
});
const refusing = app.tool("refusing", {}, () => ({
  content: [{ type: "text" as const, text: "no" }],
  isError: true,
}));

test("a result with isError and a step that threw set the status of their spans", async () => {
  for (const tool of [failing, refusing]) {
    const round = await roundOf(tool, {});
    expect(round?.status.code).toBe(SpanStatusCode.ERROR);
    expect(round?.attributes["error.type"]).toBe("tool_error");
  }
  await roundOf(failing, {});
  const step = spans.getFinishedSpans().find(({ name }) => name === "parley.step break");
  expect(step?.status.code).toBe(SpanStatusCode.ERROR);
  expect(step?.attributes["error.type"]).toBe("RangeError");
});

test("a round that is refused with an error has its code", async () => {
  const prompt = app.prompt("broken", {}, () => {
    throw new Error("no prompt");
  });
  const found = registeredAs(prompt);
  spans.reset();
  await serveRound(found.core, found.definition, {
    target: "broken",
    arguments: undefined,
    capabilities: {},
    principal: undefined,
    facts: { meta: {} },
  });
  const [round] = spans.getFinishedSpans();
  expect(round?.status.code).toBe(SpanStatusCode.ERROR);
  expect(round?.attributes).toMatchObject({
    "error.type": "-32603",
    "rpc.response.status_code": "-32603",
    "gen_ai.prompt.name": "broken",
  });
});

test("the metrics count rounds by outcome, and measure rounds and steps in seconds", async () => {
  await play(ask, {}, { name: "Ada", sure: true });
  measured.reset();
  await reader.forceFlush();
  const found = measured
    .getMetrics()
    .flatMap(({ scopeMetrics }) => scopeMetrics)
    .flatMap((scope) => scope.metrics);
  expect(found.map(({ descriptor }) => descriptor.name)).toEqual(
    expect.arrayContaining(["parley.rounds", "parley.call.rounds"]),
  );
  const waits = found.find(({ descriptor }) => descriptor.name === "parley.wait.duration");
  expect(waits?.dataPoints.map(({ attributes }) => attributes["parley.handler"])).toEqual(["ask"]);
  for (const name of ["mcp.server.operation.duration", "parley.step.duration"]) {
    const metric = found.find(({ descriptor }) => descriptor.name === name);
    expect(metric?.descriptor.unit).toBe("s");
    if (metric?.dataPointType !== DataPointType.HISTOGRAM) throw new Error(`no histogram ${name}`);
    const [point] = metric.dataPoints;
    expect(point?.value.count).toBeGreaterThan(0);
    expect(point?.value.sum).toBeGreaterThan(0);
    // A round of a test takes milliseconds, so a value in milliseconds would be far beyond the first bounds.
    expect(point?.value.sum).toBeLessThan(60);
    expect(point?.value.buckets.boundaries).toContain(0.01);
  }
});
