// The API of OpenTelemetry, if it is installed. It is an optional peer, and a project without it must compile, so its
// types are declared here as far as they are used.

/** The name that spans and metrics are recorded under. */
export const scope = "mcp-parley";

/** Identifies a span. */
export interface SpanContext {
  readonly traceId: string;
  readonly spanId: string;
  readonly traceFlags: number;
  readonly isRemote?: boolean | undefined;
  readonly traceState?: { readonly serialize: () => string } | undefined;
}

export interface Span {
  readonly spanContext: () => SpanContext;
  readonly setAttributes: (attributes: Attributes) => unknown;
  readonly setStatus: (status: { readonly code: number; readonly message?: string }) => unknown;
  readonly end: () => void;
}

export type Attributes = Readonly<Record<string, string | number | boolean>>;

interface SpanOptions {
  readonly kind: number;
  readonly attributes: Attributes;
  readonly links?: readonly { readonly context: SpanContext }[];
}

interface Tracer {
  readonly startSpan: (name: string, options: SpanOptions, context?: unknown) => Span;
}

export interface Histogram {
  readonly record: (value: number, attributes: Attributes) => void;
}

interface InstrumentOptions {
  readonly description: string;
  readonly unit?: string;
  readonly advice?: { readonly explicitBucketBoundaries: number[] };
}

export interface Meter {
  readonly createCounter: (
    name: string,
    options: InstrumentOptions,
  ) => { readonly add: (value: number, attributes: Attributes) => void };
  readonly createHistogram: (name: string, options: InstrumentOptions) => Histogram;
  readonly createObservableGauge: (name: string, options: InstrumentOptions) => object;
  readonly addBatchObservableCallback: (callback: Collect, instruments: object[]) => void;
  readonly removeBatchObservableCallback: (callback: Collect, instruments: object[]) => void;
}

type Collect = (result: BatchResult) => Promise<void>;

export interface BatchResult {
  readonly observe: (instrument: object, value: number) => void;
}

export interface OpenTelemetry {
  readonly trace: {
    readonly getTracer: (name: string) => Tracer;
    readonly getTracerProvider: () => object;
    readonly setSpan: (context: unknown, span: Span) => unknown;
    readonly setSpanContext: (context: unknown, spanContext: SpanContext) => unknown;
    readonly getSpanContext: (context: unknown) => SpanContext | undefined;
    readonly isSpanContextValid: (context: SpanContext) => boolean;
  };
  readonly context: {
    readonly active: () => unknown;
    readonly with: <T>(context: unknown, run: () => T) => T;
  };
  readonly metrics: { readonly getMeter: (name: string) => Meter };
  readonly createNoopMeter: () => Meter;
  readonly createTraceState: (text: string) => NonNullable<SpanContext["traceState"]>;
}

/** The kinds of a span, as the API numbers them. */
export const spanKind = { internal: 0, server: 1, client: 2 } as const;

/** The status of a span that failed, as the API numbers it. */
const errorStatus = 2;

let found: { readonly api: OpenTelemetry | undefined } | undefined;

/** The API, or undefined if it is not installed. It is looked for once. */
export function openTelemetry(): OpenTelemetry | undefined {
  found ??= { api: installed() };
  return found.api;
}

function installed(): OpenTelemetry | undefined {
  try {
    const { createRequire } = process.getBuiltinModule("node:module");
    const api: unknown = createRequire(import.meta.url)("@opentelemetry/api");
    return isApi(api) ? api : undefined;
  } catch {
    return undefined;
  }
}

function isApi(value: unknown): value is OpenTelemetry {
  return typeof value === "object" && value !== null && "trace" in value && "metrics" in value;
}

/**
 * Whether an SDK collects spans. Many projects have the API only because a dependency does, and then a span would be
 * made for nothing. An SDK may be registered at any time.
 */
export function collectsSpans({ trace }: OpenTelemetry): boolean {
  const provider = trace.getTracerProvider();
  if (!("getDelegateTracer" in provider) || typeof provider.getDelegateTracer !== "function") {
    return true;
  }
  return provider.getDelegateTracer(scope) !== undefined;
}

/** The meter, or undefined if no SDK collects metrics. The API fixes this when the meter is made. */
export function collectingMeter(api: OpenTelemetry): Meter | undefined {
  const meter = api.metrics.getMeter(scope);
  return meter === api.createNoopMeter() ? undefined : meter;
}

/** The bounds that OpenTelemetry recommends for the duration of a request, in seconds. */
const requestBounds = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300];
/** The same for what can take days, because it includes people. */
const longBounds = [0.1, 1, 5, 15, 60, 300, 900, 3_600, 14_400, 43_200, 86_400, 259_200, 604_800];

/** A histogram of durations in seconds. */
export function durations(
  meter: Meter,
  name: string,
  description: string,
  range: "requests" | "days",
): Histogram {
  const explicitBucketBoundaries = range === "requests" ? requestBounds : longBounds;
  return meter.createHistogram(name, {
    description,
    unit: "s",
    advice: { explicitBucketBoundaries },
  });
}

/** Marks a span as failed. `type` is one of few values, `message` is for people. */
export function fail(span: Span, type: string, message?: string): void {
  span.setAttributes({ "error.type": type });
  span.setStatus({ code: errorStatus, ...(message === undefined ? {} : { message }) });
}
