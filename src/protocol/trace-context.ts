// `traceparent` and `tracestate` in the `_meta` of a request, in the format of W3C Trace Context. The specification
// reserves these keys.

import type { OpenTelemetry, SpanContext } from "../util/open-telemetry.ts";

const format = /^[\da-f]{2}-(?!0+-)([\da-f]{32})-(?!0+-)([\da-f]{16})-([\da-f]{2})$/;
/** A longer list is dropped whole, as W3C allows. A client must not fill the server's traces. */
const longestState = 512;

/** The span that a text names. Undefined if it does not name one. */
export function spanIn(traceparent: unknown): SpanContext | undefined {
  if (typeof traceparent !== "string" || traceparent.startsWith("ff")) return undefined;
  const [, traceId, spanId, flags] = format.exec(traceparent) ?? [];
  if (traceId === undefined || spanId === undefined) return undefined;
  // Only the flag "sampled" is defined for all versions.
  return { traceId, spanId, traceFlags: Number.parseInt(flags ?? "", 16) & 1, isRemote: true };
}

/** The span of the client that sent a request with this `_meta`. */
export function remoteSpan(
  api: OpenTelemetry,
  meta: Readonly<Record<string, unknown>>,
): SpanContext | undefined {
  const { traceparent, tracestate } = meta;
  const span = spanIn(traceparent);
  if (span === undefined || typeof tracestate !== "string" || tracestate.length > longestState) {
    return span;
  }
  return { ...span, traceState: api.createTraceState(tracestate) };
}

/** The span as a `traceparent`. */
export function traceparentOf({ traceId, spanId, traceFlags }: SpanContext): string {
  return `00-${traceId}-${spanId}-${(traceFlags & 0xff).toString(16).padStart(2, "0")}`;
}

/** The members of `_meta` that make this span the parent of what the server does. */
export function traceMembers(span: SpanContext): Readonly<Record<string, string>> {
  const tracestate = span.traceState?.serialize() ?? "";
  return { traceparent: traceparentOf(span), ...(tracestate === "" ? {} : { tracestate }) };
}
