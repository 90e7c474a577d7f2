// Reads the result of a request. `resultType` alone decides what kind it is.

import type { CallToolResult } from "@modelcontextprotocol/client";
import { badResponse } from "./errors.ts";
import { isObject, own } from "../util/objects.ts";
import type { Members } from "../util/objects.ts";
import type { Method } from "./reference.ts";

/** The result of a tool: what the protocol defines, and two shortcuts. */
export type CallResult<D = unknown> = CallToolResult & {
  /** The text of all text blocks, joined by line breaks. Empty if there are none. */
  readonly text: string;
  /** The structured content, as `outputSchema` read it if one was passed. */
  readonly data: D;
};

/** The outcome of one round of a call. */
export type RoundOutcome =
  | { readonly kind: "complete"; readonly result: Members }
  | {
      readonly kind: "input_required";
      readonly requests: ReadonlyMap<string, unknown>;
      readonly requestState: string | undefined;
    }
  | { readonly kind: "task"; readonly task: Members };

export function roundOutcome(method: Method, result: Members): RoundOutcome {
  const type = result["resultType"] ?? "complete";
  if (type === "complete") return { kind: "complete", result };
  if (type === "input_required") return inputRequired(result);
  if (type === "task" && method === "tools/call") return { kind: "task", task: result };
  throw badResponse(`its resultType is ${JSON.stringify(type)?.slice(0, 80)}`);
}

/** How many questions a server may ask in one round. */
const mostQuestions = 1_000;

function inputRequired({ inputRequests, requestState }: Members): RoundOutcome {
  if (requestState !== undefined && typeof requestState !== "string") {
    throw badResponse("its requestState is not a string");
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
    throw badResponse("its inputRequests is not an object");
  }
  const requests = new Map(Object.entries(inputRequests ?? {}));
  if (requests.size === 0 && requestState === undefined) {
    throw badResponse("it requires input but has neither inputRequests nor requestState");
  }
  if (requests.size > mostQuestions) {
    throw badResponse(`it asks ${requests.size} questions at once, more than ${mostQuestions}`);
  }
  return requests;
}

/** Checks a result that must be final. The inner result of a task may lack `resultType`. */
export function finalResult(method: Method, result: Members): Members {
  const type = result["resultType"];
  if (type !== undefined && type !== "complete") {
    throw badResponse(
      `its resultType is ${JSON.stringify(type)?.slice(0, 80)} instead of "complete"`,
    );
  }
  const { resultType: _, ...rest } = result;
  if (method === "tools/call") {
    // Some servers leave out `content` beside structured content. Without both, it is not a result.
    const { structuredContent, content = structuredContent === undefined ? undefined : [] } = rest;
    if (!isBlocks(content)) throw badResponse("its content is not a list of content blocks");
    return { ...rest, content };
  }
  const name = method === "prompts/get" ? "messages" : "contents";
  const list = rest[name];
  if (!Array.isArray(list) || !list.every(isObject)) throw badResponse(`it has no list of ${name}`);
  return rest;
}

const isBlocks = (content: unknown) =>
  Array.isArray(content) && content.every((block) => typeof own(block, "type") === "string");

/** Adds the shortcuts to a result that `finalResult` has checked. */
export function callResult(result: Members): CallResult {
  const { content, structuredContent } = result;
  const blocks: readonly unknown[] = Array.isArray(content) ? content : [];
  const texts = blocks
    .filter((block) => own(block, "type") === "text")
    .map((block) => own(block, "text"))
    .filter((text) => typeof text === "string");
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- finalResult has checked its blocks
  return { ...result, text: texts.join("\n"), data: structuredContent } as unknown as CallResult;
}
