// The spans of the server.

import { remoteSpan, spanIn } from "../../protocol/trace-context.ts";
import { collectsSpans, fail, scope, spanKind } from "../../util/open-telemetry.ts";
import type { Attributes, OpenTelemetry, Span, SpanContext } from "../../util/open-telemetry.ts";
import type { RequestFacts } from "../context/context.ts";
import type { Outcome } from "../../replay/outcome.ts";
import type { StepInfo } from "../../replay/operations.ts";
import type { Ending } from "../../tasks/program.ts";
import type { Definition } from "../define/definition.ts";
import type { RoundResponse } from "../round/request.ts";
import { toolError } from "../../protocol/telemetry-conventions.ts";
import { shortId } from "../../util/short-id.ts";
import { errorTypeOf, errorTypeOfResponse, isToolError, labels } from "./telemetry-labels.ts";

/** A call as a span of one of its rounds shows it. */
export interface TracedCall {
  /** Made on first use, so it is called only for a span that is collected. */
  readonly id: () => string;
  readonly round: number;
  readonly firstSpan: SpanContext | undefined;
}

/** The spans that the runs of a task belong to. */
export interface TaskOrigin {
  /** The span of the call's first round. */
  readonly first: SpanContext;
  /** The span of the round that created the task. */
  readonly created: SpanContext;
}

/** A task as a span of one of its runs shows it. */
export interface TracedTask {
  readonly id: string;
  readonly callId: string;
  readonly origin: TaskOrigin | undefined;
}

/** The trace of one run of a task. */
export interface RunTrace {
  /** Does the run in its span. The span ends when the promise settles. */
  readonly around: <T extends Outcome<unknown>>(run: () => Promise<T>) => Promise<T>;
  /** How the task ends, if it ends with this run. */
  readonly ends: (ending: Ending) => void;
}

/** A step as the span of its body shows it. */
export interface TracedStep {
  readonly callId: string;
  readonly task: { readonly id: string } | undefined;
}

interface OpenSpan<End> {
  readonly context: SpanContext;
  readonly within: <T>(run: () => T) => T;
  readonly end: (end: End) => void;
}

interface Spans {
  /** Each is undefined if no SDK collects spans. */
  readonly round: (
    definition: Definition,
    call: TracedCall,
    facts: Pick<RequestFacts, "meta" | "headers">,
  ) => OpenSpan<RoundResponse> | undefined;
  readonly run: (definition: Definition, task: TracedTask) => RunTrace | undefined;
  readonly step: (
    definition: Definition,
    of: TracedStep,
    key: string,
    step: StepInfo,
  ) => OpenSpan<{ readonly thrown: unknown } | undefined> | undefined;
}

/** Clients built with mcpkit send the span of their first round under this key. The prefix is reserved for the protocol, so it is only read. */
const tracelinkKey = "io.modelcontextprotocol/tracelink";

export function tracing(api: OpenTelemetry): Spans {
  const { trace, context } = api;
  const tracer = trace.getTracer(scope);
  const inside =
    (span: Span) =>
    <T>(run: () => T): T =>
      context.with(trace.setSpan(context.active(), span), run);

  const round: Spans["round"] = (definition, call, facts) => {
    if (!collectsSpans(api)) return undefined;
    const { title, convention, own } = labels(definition);
    const { meta } = facts;
    const active = context.active();
    const sender = remoteSpan(api, meta);
    const links = linksTo([
      call.firstSpan,
      spanIn(meta[tracelinkKey]),
      // The span of the transport, such as one of an HTTP server. Without a span of the sender it is the parent.
      sender && trace.getSpanContext(active),
    ]);
    const attributes = {
      ...convention,
      ...own,
      "parley.round": call.round,
      "parley.call.id": call.id(),
      ...sessionIn(facts),
    };
    const parent = sender === undefined ? active : trace.setSpanContext(active, sender);
    const span = tracer.startSpan(title, { kind: spanKind.server, attributes, links }, parent);
    return {
      context: span.spanContext(),
      within: inside(span),
      end: (response) => {
        span.setAttributes({ "parley.outcome": response.kind });
        const type = errorTypeOfResponse(response);
        if (response.kind === "error") {
          span.setAttributes({ "rpc.response.status_code": String(response.code) });
        }
        if (type !== undefined) {
          fail(span, type, response.kind === "error" ? response.message : undefined);
        }
        if (response.kind === "task") {
          span.setAttributes({ "parley.task.id": shortId(response.task.id) });
        }
        span.end();
      },
    };
  };

  const run: Spans["run"] = (definition, { id, callId, origin }) => {
    if (!collectsSpans(api)) return undefined;
    const active = context.active();
    // The task continues the round that created it, in whichever process.
    const parent = origin && trace.setSpanContext(active, { ...origin.created, isRemote: true });
    const attributes = {
      ...labels(definition).own,
      "parley.call.id": callId,
      "parley.task.id": shortId(id),
    };
    const options = {
      kind: spanKind.internal,
      attributes,
      links: linksTo([origin?.first]),
    };
    const span = tracer.startSpan(`parley.run ${definition.name}`, options, parent ?? active);
    return runTrace(span, inside(span));
  };

  const step: Spans["step"] = (definition, { callId, task }, key, { attempt }) => {
    if (!collectsSpans(api)) return undefined;
    const attributes = {
      ...labels(definition).own,
      "parley.call.id": callId,
      ...(task && { "parley.task.id": shortId(task.id) }),
      "parley.step.key": key,
      "parley.step.attempt": attempt,
    };
    const span = tracer.startSpan(`parley.step ${key}`, { kind: spanKind.internal, attributes });
    return {
      context: span.spanContext(),
      within: inside(span),
      end: (error) => {
        if (error !== undefined) fail(span, errorTypeOf(error.thrown));
        span.end();
      },
    };
  };
  return { round, run, step };
}

function runTrace(span: Span, within: <T>(run: () => T) => T): RunTrace {
  let ending: Ending | undefined;
  return {
    ends: (how) => {
      ending = how;
    },
    around: async (run) => {
      try {
        const outcome = await within(run);
        span.setAttributes({ "parley.outcome": ending?.status ?? outcome.kind });
        if (outcome.kind === "stopped") {
          span.setAttributes({ "parley.stop.reason": outcome.reason });
        }
        if (ending?.status === "failed")
          fail(span, String(ending.error.code), ending.error.message);
        else if (isToolError(ending?.result)) fail(span, toolError);
        return outcome;
      } catch (error) {
        // The end could not be written. The task continues from what the store has.
        fail(span, errorTypeOf(error));
        throw error;
      } finally {
        span.end();
      }
    },
  };
}

function linksTo(spans: readonly (SpanContext | undefined)[]): { readonly context: SpanContext }[] {
  return spans.filter((one) => one !== undefined).map((one) => ({ context: one }));
}

/** Only 2025-11-25 has sessions. */
function sessionIn({ headers }: Pick<RequestFacts, "headers">): Attributes {
  const id = headers?.get("mcp-session-id");
  return id === null || id === undefined ? {} : { "mcp.session.id": id };
}
