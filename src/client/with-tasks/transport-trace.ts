// The spans of the calls of a plain official client. The client sends each round as a request of its own, so a call is
// recognised by its `requestState`: a request that brings the state of an earlier response belongs to the same call.

import type { JSONRPCMessage, JSONRPCRequest } from "@modelcontextprotocol/client";
import { remoteSpan, traceMembers } from "../../protocol/trace-context.ts";
import { modernVersion } from "../../protocol/versions.ts";
import type { RpcError } from "../../protocol/rpc.ts";
import { toolError } from "../../protocol/telemetry-conventions.ts";
import { collectsSpans, fail, openTelemetry, scope, spanKind } from "../../util/open-telemetry.ts";
import type { OpenTelemetry, Span } from "../../util/open-telemetry.ts";
import type { Members } from "../../util/objects.ts";
import { shortId } from "../../util/short-id.ts";
import { RoundSpan, titleOf } from "../round-span.ts";
import { members } from "./messages.ts";

/** A client may never come back with its answers. Then the oldest call counts as given up. */
const mostKept = 10_000;

/** The traces of all calls over one transport. */
export class TransportTrace {
  readonly #calls = new Map<string, TracedCall>();

  /** The call that a request belongs to. Undefined if nothing is collected, so that a call costs nothing more. */
  callOf({ params }: JSONRPCRequest): TracedCall | undefined {
    const api = openTelemetry();
    if (api === undefined || !collectsSpans(api)) return undefined;
    const { name, requestState, _meta } = members(params);
    const known = typeof requestState === "string" ? this.#calls.get(requestState) : undefined;
    return known ?? new TracedCall(api, String(name), members(_meta), this.#keep);
  }

  readonly #keep = (call: TracedCall, before: string | undefined, state?: string): void => {
    if (before !== undefined) this.#calls.delete(before);
    if (state === undefined) return;
    this.#calls.set(state, call);
    if (this.#calls.size <= mostKept) return;
    const [oldest] = this.#calls.values();
    oldest?.giveUp();
  };

  /** The transport closes. */
  close(): void {
    for (const call of this.#calls.values()) call.giveUp();
  }
}

type Keep = (call: TracedCall, before: string | undefined, state?: string) => void;

/** The span of one call, and of the request that is under way. */
export class TracedCall {
  readonly #api: OpenTelemetry;
  readonly #called: {
    readonly method: "tools/call";
    readonly name: string;
    readonly era: typeof modernVersion;
  };
  readonly #id = crypto.randomUUID();
  readonly #span: Span;
  readonly #context: unknown;
  readonly #keep: Keep;
  #state: string | undefined;
  #round: RoundSpan | undefined;
  #rounds = 0;

  constructor(api: OpenTelemetry, name: string, meta: Members, keep: Keep) {
    this.#api = api;
    this.#keep = keep;
    this.#called = { method: "tools/call", name, era: modernVersion };
    const { trace, context } = api;
    // The application may name the span that the call belongs to in `_meta`, as it would without this transport.
    const named = remoteSpan(api, meta);
    const active = context.active();
    const parent = named === undefined ? active : trace.setSpanContext(active, named);
    const options = { kind: spanKind.internal, attributes: { "parley.call.id": this.#id } };
    this.#span = trace
      .getTracer(scope)
      .startSpan(`parley.call ${titleOf(this.#called)}`, options, parent);
    this.#context = trace.setSpan(parent, this.#span);
  }

  /** The members of `_meta` for requests about the task, which belong to the call as a whole. */
  get meta(): Members {
    return traceMembers(this.#span.spanContext());
  }

  /** Sends a round to the server. */
  send(request: JSONRPCRequest, send: (traced: JSONRPCRequest) => Promise<void>): Promise<void> {
    this.#rounds += 1;
    const attributes = { "parley.call.id": this.#id, "parley.round": this.#rounds };
    const round = new RoundSpan(this.#api, this.#called, attributes, this.#context);
    this.#round = round;
    const _meta = { ...members(members(request.params)["_meta"]), ...round.meta };
    return round.within(() => send({ ...request, params: { ...request.params, _meta } }));
  }

  /** The server has responded to the round. */
  responded(message: JSONRPCMessage): void {
    const round = this.#round;
    this.#round = undefined;
    if ("result" in message) round?.responded({ kind: "result", result: members(message.result) });
    else if ("error" in message) round?.responded({ kind: "error", error: message.error });
  }

  becameTask(taskId: string): void {
    this.#span.setAttributes({ "parley.task.id": shortId(taskId) });
  }

  /** The client gets this result. If it asks something, the call goes on with the answers. */
  answered(result: Members): void {
    const { resultType, requestState, isError } = result;
    if (resultType === "input_required" && typeof requestState === "string") {
      this.#keep(this, this.#state, requestState);
      this.#state = requestState;
      return;
    }
    if (isError === true) fail(this.#span, toolError);
    this.#end();
  }

  failed({ code, message }: RpcError): void {
    fail(this.#span, String(code), message);
    this.#end();
  }

  /** The request could not be sent, or the client did not wait for its end. */
  giveUp(error: unknown = new Error("The call was given up.")): void {
    this.#round?.failed(error);
    this.#round = undefined;
    fail(this.#span, "cancelled", error instanceof Error ? error.message : undefined);
    this.#end();
  }

  #end(): void {
    this.#keep(this, this.#state);
    this.#state = undefined;
    this.#span.end();
  }
}
