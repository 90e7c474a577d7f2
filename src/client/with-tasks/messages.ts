// Reads the messages between a client and its server, as far as `withTasks` has to understand them.

import {
  CLIENT_CAPABILITIES_META_KEY,
  PROTOCOL_VERSION_META_KEY,
} from "@modelcontextprotocol/client";
import type { JSONRPCMessage, JSONRPCRequest, RequestId } from "@modelcontextprotocol/client";
import { headerMismatch, internalError } from "../../protocol/error-codes.ts";
import { tasksExtension } from "../../protocol/task.ts";
import { modernVersion } from "../../protocol/versions.ts";
import type { RpcError } from "../../protocol/rpc.ts";
import { errorText } from "../../util/error-text.ts";
import { isObject } from "../../util/objects.ts";
import type { Members } from "../../util/objects.ts";
import { CallError } from "../errors.ts";

/** The members of an object. Empty for any other value. */
export function members(value: unknown): Members {
  return isObject(value) ? value : {};
}

export function isRequest(message: JSONRPCMessage): message is JSONRPCRequest {
  return "method" in message && "id" in message;
}

export function isId(value: unknown): value is RequestId {
  return typeof value === "string" || typeof value === "number";
}

/** The `_meta` of a 2026-07-28 request. Undefined for other versions, which do not have these tasks. */
export function modernMeta({ params }: JSONRPCRequest): Members | undefined {
  const meta: unknown = params?._meta;
  return isObject(meta) && meta[PROTOCOL_VERSION_META_KEY] === modernVersion ? meta : undefined;
}

export function capabilitiesIn(meta: Members): Members {
  return members(meta[CLIENT_CAPABILITIES_META_KEY]);
}

/**
 * The same request, declaring these extensions. The value of each is exactly `{}`, because some servers accept no other for
 * tasks.
 */
export function declaring(
  request: JSONRPCRequest,
  meta: Members,
  ids: readonly string[] = [tasksExtension],
): JSONRPCRequest {
  const capabilities = capabilitiesIn(meta);
  const extensions = members(capabilities["extensions"]);
  const missing = ids.filter((id) => {
    const declared = extensions[id];
    return !isObject(declared) || Object.keys(declared).length > 0;
  });
  if (missing.length === 0) return request;
  const added = Object.fromEntries(missing.map((id) => [id, {}]));
  const extended = { ...capabilities, extensions: { ...extensions, ...added } };
  const _meta = { ...meta, [CLIENT_CAPABILITIES_META_KEY]: extended };
  return { ...request, params: { ...request.params, _meta } };
}

/** Whether a client with these capabilities can answer the question. */
export function canBeAsked(question: unknown, capabilities: Members): boolean {
  const { method, params } = members(question);
  if (method === "sampling/createMessage") return isObject(capabilities["sampling"]);
  if (method === "roots/list") return isObject(capabilities["roots"]);
  if (method !== "elicitation/create") return false;
  const { elicitation } = capabilities;
  if (!isObject(elicitation)) return false;
  const { mode = "form" } = members(params);
  // A client that declares `elicitation: {}` supports forms only.
  if (mode === "form") return elicitation["form"] !== undefined || elicitation["url"] === undefined;
  return mode === "url" && elicitation["url"] !== undefined;
}

/**
 * The JSON-RPC error that the call ends with: the server's own error if there is one. Otherwise the client throws a
 * `ProtocolError` whose `data.reason` is the code of the `CallError`.
 */
export function errorOf(fault: unknown, taskId: string | undefined): RpcError {
  const known = fault instanceof CallError ? fault : new CallError("refused", errorText(fault));
  const { rpc, code, message, question } = known;
  if (rpc !== undefined) return withoutRetry(rpc);
  const data = { reason: code, ...(taskId && { taskId }), ...(question && { question }) };
  return { code: internalError, message, data };
}

/** Hides a header mismatch, because the official client would send the whole call again. */
function withoutRetry(error: RpcError): RpcError {
  if (error.code !== headerMismatch) return error;
  const { code, data, message } = error;
  return { code: internalError, message, data: { code, data } };
}
