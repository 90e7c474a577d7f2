// The spans of a call, through @opentelemetry/api, if it is installed: one for the call, and one for each of its rounds.
// The server continues the trace, because each request names its span in `_meta.traceparent`.

import { spanIn, traceMembers, traceparentOf } from "../protocol/trace-context.ts";
import type { RpcResponse } from "../protocol/rpc.ts";
import { toolError } from "../protocol/telemetry-conventions.ts";
import { collectsSpans, fail, openTelemetry, scope, spanKind } from "../util/open-telemetry.ts";
import type { Attributes } from "../util/open-telemetry.ts";
import type { Members } from "../util/objects.ts";
import { shortId } from "../util/short-id.ts";
import type { CallServices } from "./active-call.ts";
import type { CallState } from "./reference.ts";
import type { RequestSender } from "./request-channel.ts";
import { errorTypeOf, RoundSpan, titleOf } from "./round-span.ts";

/** The trace of one call. */
export interface CallTrace {
  /** The span of the call, for another process that continues it. */
  readonly traceparent: string | undefined;
  /** Sends the requests of the call, with the span that each belongs to. */
  readonly traced: (services: CallServices) => CallServices;
  readonly end: (state: CallState, result: Members) => void;
  readonly fail: (state: CallState, error: unknown) => void;
}

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
      const number = { "parley.round": call.rounds + call.stateRounds + 1 };
      const round = new RoundSpan(api, call, { ...attributesOf(call), ...number }, parent);
      return finished(round, () =>
        inner.request(method, params, { ...options, trace: round.meta }),
      );
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
async function finished(round: RoundSpan, send: () => Promise<RpcResponse>): Promise<RpcResponse> {
  try {
    const response = await round.within(send);
    round.responded(response);
    return response;
  } catch (error) {
    round.failed(error);
    throw error;
  }
}

const attributesOf = (call: CallState): Attributes => ({
  "parley.call.id": call.id,
  ...taskIn(call),
});

const taskIn = ({ taskId }: CallState): Attributes =>
  taskId === undefined ? {} : { "parley.task.id": shortId(taskId) };
