// Makes HTTP responses from the responses of rounds and tasks, byte for byte as the official SDK would send them.

import { CLIENT_CAPABILITIES_META_KEY, SERVER_INFO_META_KEY } from "@modelcontextprotocol/server";
import type { Implementation } from "@modelcontextprotocol/server";
import {
  internalError,
  missingClientCapability,
  resourceNotFound,
  urlElicitationRequired,
} from "../../../protocol/error-codes.ts";
import type { InputRequired } from "../../../protocol/input-required.ts";
import { abilitiesOf, capabilityNeededBy } from "../../../protocol/capabilities.ts";
import type { WireResult } from "../../define/definition.ts";
import type { RoundResponse } from "../../round/request.ts";
import type { TaskResponse } from "../../tasks/requests.ts";
import { createTaskResult } from "../../tasks/wire.ts";
import { isObject } from "../../../util/objects.ts";
import type { Message } from "./fast-message.ts";
import type { RoundRoute } from "./route-table.ts";
import { cacheable, toolResult } from "./sdk-result.ts";

/** A response that is ready to be written. */
export interface EncodedResponse {
  readonly status: number;
  readonly json: string;
}

type Id = Message["id"];
type ErrorMembers = Pick<Extract<RoundResponse, { kind: "error" }>, "code" | "message" | "data">;

/** Encodes the responses of one app. */
export class ResponseEncoder {
  readonly #serverInfo: Implementation;
  readonly #metaTail: string;
  readonly #completeTail: string;

  constructor(serverInfo: Implementation) {
    this.#serverInfo = serverInfo;
    // Nearly every result ends with the same members, so their text is made once.
    this.#metaTail = `"_meta":${JSON.stringify({ [SERVER_INFO_META_KEY]: serverInfo })}}`;
    this.#completeTail = `"resultType":"complete",${this.#metaTail}`;
  }

  /** The response to a round. Undefined if the SDK would not send it unchanged. */
  round(
    { id, params }: Message,
    { handler }: RoundRoute,
    response: Exclude<RoundResponse, { kind: "none" }>,
  ): EncodedResponse | undefined {
    switch (response.kind) {
      case "complete": {
        const result = completeResult(handler, response.result);
        return result && this.#result(id, result);
      }
      case "input_required":
        return mayAsk(response.result, params._meta[CLIENT_CAPABILITIES_META_KEY])
          ? this.#asking(id, response.result)
          : undefined;
      case "task":
        return this.#result(id, { ...createTaskResult(response.task) });
      case "error":
        return handler.definition.method !== "tools/call" && isReserved(response.code)
          ? undefined
          : encodedError(id, response);
    }
  }

  /** The response to a method of the tasks extension. */
  task(id: Id, response: TaskResponse): EncodedResponse {
    return response.kind === "error"
      ? encodedError(id, response)
      : this.#result(id, { ...response.result });
  }

  /** The response after an unexpected failure. The log has the cause. */
  unexpectedFailure(id: Id): EncodedResponse {
    return {
      ...encodedError(id, { code: internalError, message: "Internal server error" }),
      status: 500,
    };
  }

  #result(id: Id, result: WireResult): EncodedResponse {
    return this.#encodedResult(id, () => this.#encoded(result));
  }

  #encodedResult(id: Id, encode: () => string): EncodedResponse {
    try {
      const json = `{"result":${encode()},"jsonrpc":"2.0","id":${JSON.stringify(id)}}`;
      return { status: 200, json };
    } catch {
      return encodedError(id, { code: internalError, message: "The result is not JSON" });
    }
  }

  /** The state is by far the largest part. It is a token, so no character of it needs an escape. */
  #asking(id: Id, { inputRequests, requestState }: InputRequired): EncodedResponse {
    return this.#encodedResult(id, () => {
      const asked =
        inputRequests === undefined ? "" : `"inputRequests":${JSON.stringify(inputRequests)},`;
      const state = requestState === undefined ? "" : `"requestState":"${requestState}",`;
      return `{"resultType":"input_required",${asked}${state}${this.#metaTail}`;
    });
  }

  #encoded(result: WireResult): string {
    if (result["_meta"] !== undefined) return JSON.stringify(this.#withMeta(result));
    const text = JSON.stringify(result);
    const tail = result["resultType"] === undefined ? this.#completeTail : this.#metaTail;
    return text === "{}" ? `{${tail}` : `${text.slice(0, -1)},${tail}`;
  }

  /** Server info that the author has put into `_meta` wins over ours. */
  #withMeta({ resultType = "complete", _meta, ...rest }: WireResult): WireResult {
    const isOpen = isObject(_meta) && _meta[SERVER_INFO_META_KEY] === undefined;
    const meta = isOpen ? { ..._meta, [SERVER_INFO_META_KEY]: this.#serverInfo } : _meta;
    return { ...rest, resultType, _meta: meta };
  }
}

function completeResult(
  { definition, cacheHint }: RoundRoute["handler"],
  result: WireResult,
): WireResult | undefined {
  switch (definition.method) {
    case "tools/call":
      return toolResult(result);
    case "prompts/get":
      return result;
    case "resources/read":
      return cacheable(result, cacheHint);
  }
}

/** The first round fixes what the call may ask, but the SDK looks at what this request declares. Both have to agree. */
function mayAsk(
  { inputRequests }: InputRequired,
  declared: Parameters<typeof abilitiesOf>[0],
): boolean {
  if (inputRequests === undefined) return true;
  const abilities = abilitiesOf(declared);
  return Object.values(inputRequests).every((request) =>
    abilities.includes(capabilityNeededBy(request)),
  );
}

/** Codes of 2025-11-25 that the SDK replaces with others in 2026-07-28. */
const isReserved = (code: number): boolean =>
  code === resourceNotFound || code === urlElicitationRequired;

function encodedError(id: Id, { code, message, data }: ErrorMembers): EncodedResponse {
  const json = JSON.stringify({ jsonrpc: "2.0", id, error: { code, message, data } });
  return { status: code === missingClientCapability ? 400 : 200, json };
}
