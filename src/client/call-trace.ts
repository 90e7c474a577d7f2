// The spans of a call, through @opentelemetry/api, if it is installed: one for the call, and one for each of its rounds.
// The server continues the trace, because each request names its span in `_meta.traceparent`.

import { spanIn, traceMembers, traceparentOf } from "../protocol/trace-context.ts";
import type { RpcResponse } from "../protocol/rpc.ts";
import { conventionOf, toolError } from "../protocol/telemetry-conventions.ts";
import {
  collectingMeter,
  collectsSpans,
  durations,
  fail,
  openTelemetry,
  scope,
  spanKind,
} from "../util/open-telemetry.ts";
import type { Attributes, Histogram, OpenTelemetry, Span } from "../util/open-telemetry.ts";
import { own } from "../util/objects.ts";
import type { Members } from "../util/objects.ts";
import { shortId } from "../util/short-id.ts";
import type { CallServices } from "./active-call.ts";
import { CallError } from "./errors.ts";
import type { CallState } from "./reference.ts";
import type { RequestSender } from "./request-channel.ts";

/** The trace of one call. */
export interface CallTrace {
  /** The span of the call, for another process that continues it. */
  readonly traceparent: string | undefined;
  /** Sends the requests of the call, with the span that each belongs to. */
  readonly traced: (services: CallServices) => CallServices;
  readonly end: (state: CallState, result: Members) => void;
  readonly fail: (state: CallState, error: unknown) => void;
}

let roundTime: Histogram | undefined;

/** Undefined if nothing is collected, so that a call costs nothing more. */
export function callTrace(state: CallState, current: () => CallState): CallTrace | undefined {
  const api = openTelemetry();
  if (api === undefined || !collectsSpans(api)) return undefined;
  const { trace, context } = api;
  const tracer = trace.getTracer(scope);
  const first = spanIn(state.traceparent);
  const span = tracer.startSpan(`parley.call ${titleOf(state)}`, {
    kind: spanKind.internal,
    attributes: attributesOf(state),
    links: first === undefined ? [] : [{ context: first }],
  });
  const parent = trace.setSpan(context.active(), span);
  const request: (inner: RequestSender) => RequestSender["request"] =
    (inner) => (method, params, options) => {
      const call = current();
      if (method !== call.method) {
        const meta = traceMembers(span.spanContext());
        return context.with(parent, () =>
          inner.request(method, params, { ...options, trace: meta }),
        );
      }
      const attributes = {
        ...attributesOf(call),
        ...versionedConvention(call),
        "parley.round": call.rounds + call.stateRounds + 1,
      };
      const round = tracer.startSpan(titleOf(call), { kind: spanKind.client, attributes }, parent);
      const meta = traceMembers(round.spanContext());
      const within = trace.setSpan(parent, round);
      const sent = context.with(within, () =>
        inner.request(method, params, { ...options, trace: meta }),
      );
      return finished(api, call, round, sent);
    };
  return {
    traceparent: traceparentOf(span.spanContext()),
    traced: (services) => ({ ...services, channel: { request: request(services.channel) } }),
    end: (call, result) => {
      span.setAttributes(taskIn(call));
      if (result["isError"] === true) fail(span, toolError);
      span.end();
    },
    fail: (call, error) => {
      span.setAttributes(taskIn(call));
      fail(span, errorTypeOf(error), error instanceof Error ? error.message : undefined);
      span.end();
    },
  };
}

/** Ends the span of a round with its response. */
async function finished(
  api: OpenTelemetry,
  call: CallState,
  round: Span,
  sent: Promise<RpcResponse>,
): Promise<RpcResponse> {
  const startedAt = performance.now();
  let type: string | undefined;
  try {
    const response = await sent;
    if (response.kind === "error") {
      const { code, message } = response.error;
      type = String(code);
      round.setAttributes({ "parley.outcome": "error", "rpc.response.status_code": type });
      fail(round, type, message);
    } else {
      const { resultType } = response.result;
      const outcome = typeof resultType === "string" ? resultType.slice(0, 40) : "complete";
      round.setAttributes({ "parley.outcome": outcome });
      if (own(response.result, "isError") === true) {
        type = toolError;
        fail(round, type);
      }
    }
    return response;
  } catch (error) {
    type = errorTypeOf(error);
    fail(round, type, error instanceof Error ? error.message : undefined);
    throw error;
  } finally {
    round.end();
    const seconds = (performance.now() - startedAt) / 1_000;
    const attributes = versionedConvention(call);
    histogram(api)?.record(
      seconds,
      type === undefined ? attributes : { ...attributes, "error.type": type },
    );
  }
}

/** Made with the first round that is collected, because the API fixes then who collects it. */
function histogram(api: OpenTelemetry): Histogram | undefined {
  if (roundTime !== undefined) return roundTime;
  const meter = collectingMeter(api);
  if (meter === undefined) return undefined;
  const description = "How long a request of a call took, as the client saw it";
  roundTime = durations(meter, "mcp.client.operation.duration", description, "requests");
  return roundTime;
}

const errorTypeOf = (error: unknown): string => {
  if (error instanceof CallError) return error.code;
  return error instanceof Error ? error.name : "_OTHER";
};

const attributesOf = (call: CallState): Attributes => ({
  "parley.call.id": call.id,
  ...taskIn(call),
});

const taskIn = ({ taskId }: CallState): Attributes =>
  taskId === undefined ? {} : { "parley.task.id": shortId(taskId) };

const versionedConvention = ({ method, name, era }: CallState): Attributes => ({
  ...conventionOf(method, name),
  ...(era === undefined ? {} : { "mcp.protocol.version": era }),
});

/** The URI of a resource is not part of the name, because there can be very many. */
const titleOf = ({ method, name }: CallState): string =>
  method === "resources/read" ? method : `${method} ${name}`;
