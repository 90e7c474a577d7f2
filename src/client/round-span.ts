// The span of one request of a call, and how long it took: as the client saw it.

import { traceMembers } from "../protocol/trace-context.ts";
import type { RpcResponse } from "../protocol/rpc.ts";
import { conventionOf, toolError } from "../protocol/telemetry-conventions.ts";
import { collectingMeter, durations, fail, scope, spanKind } from "../util/open-telemetry.ts";
import type { Attributes, Histogram, OpenTelemetry, Span } from "../util/open-telemetry.ts";
import { own } from "../util/objects.ts";
import type { Members } from "../util/objects.ts";
import { CallError } from "./errors.ts";
import type { CallState } from "./reference.ts";

/** What is called. */
export type Called = Pick<CallState, "method" | "name" | "era">;

let roundTime: Histogram | undefined;

/** Ends once, with the response or with an error. */
export class RoundSpan {
  readonly #api: OpenTelemetry;
  readonly #called: Called;
  readonly #span: Span;
  readonly #context: unknown;
  readonly #startedAt = performance.now();

  /** `parent` is the context of the call's span. */
  constructor(api: OpenTelemetry, called: Called, attributes: Attributes, parent: unknown) {
    this.#api = api;
    this.#called = called;
    const options = {
      kind: spanKind.client,
      attributes: { ...attributes, ...versionedConvention(called) },
    };
    this.#span = api.trace.getTracer(scope).startSpan(titleOf(called), options, parent);
    this.#context = api.trace.setSpan(parent, this.#span);
  }

  /** The members of `_meta` that name this span. */
  get meta(): Members {
    return traceMembers(this.#span.spanContext());
  }

  /** Runs what sends the request, so that spans of the transport belong to this one. */
  within<T>(send: () => T): T {
    return this.#api.context.with(this.#context, send);
  }

  /** Ends with the response, which may be an error. */
  responded(response: RpcResponse): void {
    let type: string | undefined;
    if (response.kind === "error") {
      const { code, message } = response.error;
      type = String(code);
      this.#span.setAttributes({ "parley.outcome": "error", "rpc.response.status_code": type });
      fail(this.#span, type, message);
    } else {
      const { resultType } = response.result;
      const outcome = typeof resultType === "string" ? resultType.slice(0, 40) : "complete";
      this.#span.setAttributes({ "parley.outcome": outcome });
      if (own(response.result, "isError") === true) {
        type = toolError;
        fail(this.#span, type);
      }
    }
    this.#end(type);
  }

  /** Ends without a response. */
  failed(error: unknown): void {
    const type = errorTypeOf(error);
    fail(this.#span, type, error instanceof Error ? error.message : undefined);
    this.#end(type);
  }

  #end(type: string | undefined): void {
    this.#span.end();
    const attributes = versionedConvention(this.#called);
    const seconds = (performance.now() - this.#startedAt) / 1_000;
    histogram(this.#api)?.record(
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

/** The `error.type` of a call or a request that failed. */
export const errorTypeOf = (error: unknown): string => {
  if (error instanceof CallError) return error.code;
  return error instanceof Error ? error.name : "_OTHER";
};

const versionedConvention = ({ method, name, era }: Called): Attributes => ({
  ...conventionOf(method, name),
  ...(era === undefined ? {} : { "mcp.protocol.version": era }),
});

/** The URI of a resource is not part of the name, because there can be very many. */
export const titleOf = ({ method, name }: Called): string =>
  method === "resources/read" ? method : `${method} ${name}`;
