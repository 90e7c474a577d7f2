// What came back, told apart by `resultType` and nothing else.

import type { CallToolResult } from "@modelcontextprotocol/client";
import { badResponse } from "./errors.ts";
import { isObject, own } from "../util/objects.ts";
import type { Members } from "../util/objects.ts";
import type { Method } from "./reference.ts";

export type CallResult<D = unknown> = CallToolResult & {
  /** Of all text blocks. */
  readonly text: string;
  /** The structured content. */
  readonly data: D;
};

export type Outcome =
  | { readonly kind: "complete"; readonly result: Members }
  | {
      readonly kind: "input_required";
      readonly requests: ReadonlyMap<string, unknown>;
      readonly requestState: string | undefined;
    }
  | { readonly kind: "task"; readonly task: Members };

export function outcomeOf(method: Method, result: Members): Outcome {
  const type = result["resultType"] ?? "complete";
  if (type === "complete") return { kind: "complete", result };
  if (type === "input_required") return inputRequired(result);
  if (type === "task" && method === "tools/call") return { kind: "task", task: result };
  throw badResponse(`its resultType is ${JSON.stringify(type)?.slice(0, 80)}`);
}

/** More than anybody asks at once. */
const mostQuestions = 1_000;

function inputRequired({ inputRequests, requestState }: Members): Outcome {
  if (requestState !== undefined && typeof requestState !== "string") {
    throw badResponse("its requestState is no text");
  }
  return {
    kind: "input_required",
    requests: requestsIn(inputRequests, requestState),
    requestState,
  };
}

function requestsIn(
  inputRequests: unknown,
  requestState: string | undefined,
): ReadonlyMap<string, unknown> {
  if (inputRequests !== undefined && !isObject(inputRequests)) {
    throw badResponse("its inputRequests are no object");
  }
  const requests = new Map(Object.entries(inputRequests ?? {}));
  if (requests.size === 0 && requestState === undefined) {
    throw badResponse("it needs input, and says neither which nor where it stands");
  }
  if (requests.size > mostQuestions)
    throw badResponse(`it asks ${requests.size} questions at once`);
  return requests;
}

/** As the method has it; the inner result of a task may lack `resultType`. */
export function finalResult(method: Method, result: Members): Members {
  const type = result["resultType"];
  if (type !== undefined && type !== "complete") {
    throw badResponse(`what should be final is ${JSON.stringify(type)?.slice(0, 80)}`);
  }
  const { resultType: _, ...rest } = result;
  if (method === "tools/call") {
    // Some leave it out beside structured content. With neither it is no result, whatever else it may be.
    const { structuredContent, content = structuredContent && [] } = rest;
    if (!isBlocks(content)) throw badResponse("its content is no list of blocks");
    return { ...rest, content };
  }
  const list = method === "prompts/get" ? rest["messages"] : rest["contents"];
  if (!Array.isArray(list) || !list.every(isObject)) throw badResponse("it has no contents");
  return rest;
}

const isBlocks = (content: unknown) =>
  Array.isArray(content) && content.every((block) => typeof own(block, "type") === "string");

/** Of a result that `finalResult` has looked at. */
export function callResult(result: Members): CallResult {
  const { content, structuredContent } = result;
  const blocks: readonly unknown[] = Array.isArray(content) ? content : [];
  const texts = blocks
    .filter((block) => own(block, "type") === "text")
    .map((block) => own(block, "text"))
    .filter((text) => typeof text === "string");
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- its blocks are, as far as this library looks
  return { ...result, text: texts.join("\n"), data: structuredContent } as unknown as CallResult;
}
