// Traces and metrics through @opentelemetry/api, if it is installed. Each round is a span. Later rounds link to the first
// one through the sealed state, because each comes as its own request.
//
// The API is an optional peer, and a project without it must compile, so its types are declared here as far as they are used.

import { createRequire } from "node:module";
import type { RequestFacts } from "../context/context.ts";
import type { Definition } from "../define/definition.ts";
import type { RoundResponse } from "../round/request.ts";

/** Identifies a span, as OpenTelemetry defines it. */
export interface SpanContext {
  readonly traceId: string;
  readonly spanId: string;
  readonly traceFlags: number;
}

interface Span {
  readonly spanContext: () => SpanContext;
  readonly setAttribute: (key: string, value: string | number | boolean) => unknown;
  readonly setStatus: (status: { readonly code: number; readonly message?: string }) => unknown;
  readonly end: () => void;
}

type Attributes = Readonly<Record<string, string | number | boolean>>;

interface Api {
  readonly trace: {
    readonly getTracer: (name: string) => {
      readonly startSpan: (
        name: string,
        options: {
          readonly kind: number;
          readonly attributes: Attributes;
          readonly links: readonly { readonly context: SpanContext }[];
        },
      ) => Span;
    };
    readonly setSpan: (context: unknown, span: Span) => unknown;
    readonly isSpanContextValid: (context: SpanContext) => boolean;
  };
  readonly context: {
    readonly active: () => unknown;
    readonly with: <T>(context: unknown, run: () => T) => T;
  };
  readonly metrics: { readonly getMeter: (name: string) => Meter };
}

interface Meter {
  readonly createCounter: (
    name: string,
    options: { readonly description: string },
  ) => { readonly add: (value: number, attributes: Attributes) => void };
  readonly createHistogram: (
    name: string,
    options: { readonly description: string },
  ) => { readonly record: (value: number, attributes: Attributes) => void };
  readonly createObservableGauge: (
    name: string,
    options: { readonly description: string },
  ) => object;
  readonly addBatchObservableCallback: (callback: Collect, instruments: object[]) => void;
  readonly removeBatchObservableCallback: (callback: Collect, instruments: object[]) => void;
}

type Collect = (result: BatchResult) => Promise<void>;

interface BatchResult {
  readonly observe: (instrument: object, value: number) => void;
}

const serverKind = 1;
const errorStatus = 2;

/** The trace of one round. */
interface RoundTrace {
  /** Runs the round in its span, so that the spans of what it calls become children. */
  readonly within: <T>(run: () => T) => T;
  /** The span of the call's first round, for the rounds to come. */
  readonly first: SpanContext | undefined;
  readonly end: (response: RoundResponse) => void;
}

/** What the server measures. */
export interface Telemetry {
  readonly begin: (
    definition: Definition,
    round: number,
    first: SpanContext | undefined,
    /** Not `meta` alone, because that is made on first use. */
    facts: Pick<RequestFacts, "meta">,
  ) => RoundTrace;
  /** A token was refused, so there is no round. */
  readonly refused: (definition: Definition, reason: string) => void;
  readonly task: (
    event: "created" | "completed" | "failed" | "cancelled" | "lease_lost",
    tool: string,
  ) => void;
  /** The sweep that ends tasks whose time is up does not say of which tool they are. */
  readonly expired: (count: number) => void;
  readonly storeFailed: (store: string) => void;
  /** Reads the gauges each time metrics are collected. Returns the function that ends this. */
  readonly gauges: (read: () => Promise<Readonly<Record<Gauge, number>> | undefined>) => () => void;
}

type Gauge = "live" | "parked" | "held" | "due" | "oldestDueMs";

const gauges: Record<Gauge, readonly [name: string, description: string]> = {
  live: ["parley.tasks.live", "Tasks that have not ended"],
  parked: ["parley.tasks.parked", "Tasks that wait for an answer, a delivery or a timer"],
  held: ["parley.tasks.held", "Tasks that a worker holds"],
  due: ["parley.tasks.due", "Tasks that are ready to run and not claimed by a worker"],
  oldestDueMs: ["parley.tasks.oldest_due", "How long the oldest due task has been due, in ms"],
};

const unwrapped = <T>(run: () => T): T => run();

const silent: RoundTrace = { within: unwrapped, first: undefined, end: () => {} };

const noTelemetry: Telemetry = {
  begin: () => silent,
  refused: () => {},
  task: () => {},
  expired: () => {},
  storeFailed: () => {},
  gauges: () => () => {},
};

/** Uses the API if it is installed, and does nothing otherwise. */
export function telemetry(): Telemetry {
  const api = installedApi();
  if (api === undefined) return noTelemetry;
  const tracer = api.trace.getTracer("mcp-parley");
  const meter = api.metrics.getMeter("mcp-parley");
  const rounds = meter.createCounter("parley.rounds", { description: "Rounds, by outcome" });
  const refusals = meter.createCounter("parley.tokens.refused", {
    description: "Tokens refused, by reason",
  });
  const perCall = meter.createHistogram("parley.call.rounds", {
    description: "Rounds a finished call took",
  });
  const tasks = meter.createCounter("parley.tasks", {
    description: "Tasks created, completed, failed, cancelled, expired, and leases lost",
  });
  const storeErrors = meter.createCounter("parley.store.errors", {
    description: "Failures of the task store",
  });
  return {
    task: (event, tool) => tasks.add(1, { event, "parley.handler": tool }),
    expired: (count) => tasks.add(count, { event: "expired" }),
    storeFailed: (store) => storeErrors.add(1, { store }),
    gauges: (read) => observe(meter, read),
    refused: (definition, reason) => refusals.add(1, { ...labels(definition).attributes, reason }),
    begin: (definition, round, first, facts) => {
      const { title, attributes, outcomes, firstRound } = labels(definition);
      const isFirst = round === 1 && first === undefined;
      const span = tracer.startSpan(
        title,
        isFirst ? firstRound : spanOptions(attributes, round, [first, linkedIn(facts.meta)]),
      );
      const own = span.spanContext();
      const end = (response: RoundResponse) => {
        rounds.add(1, outcomes[response.kind]);
        if (response.kind === "complete") perCall.record(round, attributes);
      };
      // The API is installed, but no SDK that collects spans.
      if (!api.trace.isSpanContextValid(own)) return { within: unwrapped, first, end };
      return {
        within: (run) => api.context.with(api.trace.setSpan(api.context.active(), span), run),
        first: first ?? own,
        end: (response) => {
          end(response);
          span.setAttribute("parley.outcome", response.kind);
          if (response.kind === "error") {
            span.setStatus({ code: errorStatus, message: String(response.code) });
          }
          span.end();
        },
      };
    },
  };
}

type SpanOptions = Parameters<ReturnType<Api["trace"]["getTracer"]>["startSpan"]>[1];

/** The labels of all rounds of a handler, made once. */
interface Labels {
  readonly title: string;
  readonly attributes: Attributes;
  readonly outcomes: Readonly<Record<RoundResponse["kind"], Attributes>>;
  /** The span options of a first round. */
  readonly firstRound: SpanOptions;
}

const known = new WeakMap<Definition, Labels>();

function labels(definition: Definition): Labels {
  let found = known.get(definition);
  if (found === undefined) {
    const { method, name } = definition;
    const attributes = { "mcp.method": method, "parley.handler": name };
    const outcome = (kind: RoundResponse["kind"]) => ({ ...attributes, outcome: kind });
    found = {
      title: `${method} ${name}`,
      attributes,
      outcomes: {
        complete: outcome("complete"),
        input_required: outcome("input_required"),
        task: outcome("task"),
        error: outcome("error"),
        none: outcome("none"),
      },
      firstRound: spanOptions(attributes, 1, []),
    };
    known.set(definition, found);
  }
  return found;
}

function spanOptions(
  attributes: Attributes,
  round: number,
  earlier: readonly (SpanContext | undefined)[],
): SpanOptions {
  return {
    kind: serverKind,
    attributes: { ...attributes, "parley.round": round },
    links: earlier.filter((context) => context !== undefined).map((context) => ({ context })),
  };
}

/** Clients built with mcpkit send the span of their first round under this key. The prefix is reserved for the protocol, so it is only read. */
const tracelinkKey = "io.modelcontextprotocol/tracelink";
const traceparent = /^[\da-f]{2}-(?!0+-)([\da-f]{32})-(?!0+-)([\da-f]{16})-([\da-f]{2})$/;

function linkedIn(meta: Readonly<Record<string, unknown>>): SpanContext | undefined {
  const [, traceId, spanId, flags] = traceparent.exec(String(meta[tracelinkKey])) ?? [];
  if (traceId === undefined || spanId === undefined) return undefined;
  return { traceId, spanId, traceFlags: Number.parseInt(flags ?? "", 16) };
}

/** Reads the store once for all gauges. */
function observe(meter: Meter, read: Parameters<Telemetry["gauges"]>[0]): () => void {
  const made = Object.entries(gauges).map(([key, [name, description]]) => ({
    key,
    gauge: meter.createObservableGauge(name, { description }),
  }));
  const instruments = made.map(({ gauge }) => gauge);
  const callback = async (result: BatchResult) => {
    const values: Readonly<Record<string, number>> = (await read()) ?? {};
    for (const { key, gauge } of made) {
      const value = values[key];
      if (value !== undefined) result.observe(gauge, value);
    }
  };
  meter.addBatchObservableCallback(callback, instruments);
  return () => meter.removeBatchObservableCallback(callback, instruments);
}

function installedApi(): Api | undefined {
  try {
    const api: unknown = createRequire(import.meta.url)("@opentelemetry/api");
    return isApi(api) ? api : undefined;
  } catch {
    return undefined;
  }
}

function isApi(value: unknown): value is Api {
  return typeof value === "object" && value !== null && "trace" in value && "metrics" in value;
}
