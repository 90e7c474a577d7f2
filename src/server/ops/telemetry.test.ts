// Traces and metrics, with the real API and SDK of OpenTelemetry.

import { context, metrics, trace } from "@opentelemetry/api";
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks";
import {
  AggregationTemporality,
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
import { play } from "../../testing/play.ts";
import { parley } from "../parley.ts";

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

const app = parley({ name: "traced", version: "1.0.0" });
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

test("spans of a handler are children of its round", async () => {
  spans.reset();
  await play(ask, {}, { name: "Ada", sure: true });
  const finished = spans.getFinishedSpans();
  const second = finished.find(({ attributes }) => attributes["parley.round"] === 2);
  const greeting = finished.find(({ name }) => name === "greeting");
  expect(greeting?.parentSpanContext?.spanId).toBe(second?.spanContext().spanId);
});

test("the metrics count rounds by outcome, and how many rounds a call took", async () => {
  measured.reset();
  await reader.forceFlush();
  const found = measured
    .getMetrics()
    .flatMap(({ scopeMetrics }) => scopeMetrics)
    .flatMap((scope) => scope.metrics)
    .map(({ descriptor }) => descriptor.name);
  expect(found).toEqual(expect.arrayContaining(["parley.rounds", "parley.call.rounds"]));
});
