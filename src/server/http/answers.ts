// From answers to responses, as the official SDK sends them.

import { CLIENT_CAPABILITIES_META_KEY, SERVER_INFO_META_KEY } from "@modelcontextprotocol/server";
import type { Implementation } from "@modelcontextprotocol/server";
import { internalError, missingClientCapability } from "../../protocol/error-codes.ts";
import type { InputRequired } from "../../protocol/input-required.ts";
import { abilitiesOf, capabilityNeededBy } from "../../protocol/capabilities.ts";
import type { WireResult } from "../define/definition.ts";
import type { RoundResponse } from "../round/request.ts";
import type { TaskResponse } from "../tasks/requests.ts";
import { createTaskResult } from "../tasks/wire.ts";
import { isObject } from "../../util/objects.ts";
import type { Message } from "./message.ts";
import { cacheable, toolResult } from "./result.ts";
import type { RoundRoute } from "./routes.ts";

export interface Encoded {
  readonly status: number;
  readonly json: string;
}

type Id = Message["id"];
type Refused = Pick<Extract<RoundResponse, { kind: "error" }>, "code" | "message" | "data">;

export class Answers {
  readonly #serverInfo: Implementation;
  readonly #metaTail: string;
  readonly #completeTail: string;

  constructor(serverInfo: Implementation) {
    this.#serverInfo = serverInfo;
    // What nearly every result ends with is made into text once.
    this.#metaTail = `"_meta":${JSON.stringify({ [SERVER_INFO_META_KEY]: serverInfo })}}`;
    this.#completeTail = `"resultType":"complete",${this.#metaTail}`;
  }

  /** Undefined: the SDK would not send it as it is. */
  toRound(
    { id, params }: Message,
    { handler }: RoundRoute,
    answer: Exclude<RoundResponse, { kind: "none" }>,
  ): Encoded | undefined {
    switch (answer.kind) {
      case "complete": {
        const result = completeResult(handler, answer.result);
        return result && this.#result(id, result);
      }
      case "input_required":
        return mayAsk(answer.result, params._meta[CLIENT_CAPABILITIES_META_KEY])
          ? this.#result(id, { ...answer.result })
          : undefined;
      case "task":
        return this.#result(id, { ...createTaskResult(answer.task) });
      case "error":
        return handler.definition.method !== "tools/call" && isReserved(answer.code)
          ? undefined
          : refused(id, answer);
    }
  }

  toTask(id: Id, answer: TaskResponse): Encoded {
    return answer.kind === "error" ? refused(id, answer) : this.#result(id, { ...answer.result });
  }

  /** To what should not have happened. */
  toMishap(id: Id): Encoded {
    return {
      ...refused(id, { code: internalError, message: "Internal server error" }),
      status: 500,
    };
  }

  #result(id: Id, result: WireResult): Encoded {
    try {
      const json = `{"result":${this.#encoded(result)},"jsonrpc":"2.0","id":${JSON.stringify(id)}}`;
      return { status: 200, json };
    } catch {
      return refused(id, { code: internalError, message: "The result is no JSON" });
    }
  }

  #encoded(result: WireResult): string {
    if (result["_meta"] !== undefined) return JSON.stringify(this.#withMeta(result));
    const text = JSON.stringify(result);
    const tail = result["resultType"] === undefined ? this.#completeTail : this.#metaTail;
    return text === "{}" ? `{${tail}` : `${text.slice(0, -1)},${tail}`;
  }

  /** The author's own comes first. */
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

/** What may be asked was settled in the first round; the SDK goes by what this very request declares. */
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

/** Codes of 2025-11-25 (a resource that is not there, a URL to be opened), for which the SDK has others now. */
const isReserved = (code: number): boolean => code === -32_002 || code === -32_042;

function refused(id: Id, { code, message, data }: Refused): Encoded {
  const json = JSON.stringify({ jsonrpc: "2.0", id, error: { code, message, data } });
  return { status: code === missingClientCapability ? 400 : 200, json };
}
