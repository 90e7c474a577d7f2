// What passes through between a client and its server, as far as it has to be understood.

import {
  CLIENT_CAPABILITIES_META_KEY,
  PROTOCOL_VERSION_META_KEY,
} from "@modelcontextprotocol/client";
import type { JSONRPCMessage, JSONRPCRequest, RequestId } from "@modelcontextprotocol/client";
import { internalError } from "../protocol/error-codes.ts";
import { tasksExtension } from "../protocol/task.ts";
import { CallError, textOf } from "./errors.ts";
import type { RpcError } from "./errors.ts";
import { isObject } from "../util/objects.ts";
import type { Members } from "../util/objects.ts";

/** The one revision that has these tasks. */
const revision = "2026-07-28";

export function members(value: unknown): Members {
  return isObject(value) ? value : {};
}

export function isRequest(message: JSONRPCMessage): message is JSONRPCRequest {
  return "method" in message && "id" in message;
}

export function isId(value: unknown): value is RequestId {
  return typeof value === "string" || typeof value === "number";
}

/** Its envelope, where it is a request of the revision that has tasks. */
export function modernMeta({ params }: JSONRPCRequest): Members | undefined {
  const meta: unknown = params?._meta;
  return isObject(meta) && meta[PROTOCOL_VERSION_META_KEY] === revision ? meta : undefined;
}

export function capabilitiesIn(meta: Members): Members {
  return members(meta[CLIENT_CAPABILITIES_META_KEY]);
}

/** The same request, from a client that follows tasks. There are servers that take nothing but exactly `{}`. */
export function declaring(request: JSONRPCRequest, meta: Members): JSONRPCRequest {
  const capabilities = capabilitiesIn(meta);
  const extensions = members(capabilities["extensions"]);
  const declared = extensions[tasksExtension];
  if (isObject(declared) && Object.keys(declared).length === 0) return request;
  const extended = { ...capabilities, extensions: { ...extensions, [tasksExtension]: {} } };
  const _meta = { ...meta, [CLIENT_CAPABILITIES_META_KEY]: extended };
  return { ...request, params: { ...request.params, _meta } };
}

/** For what this question asks, a client with these capabilities has somebody to answer. */
export function canBeAsked(question: unknown, capabilities: Members): boolean {
  const { method, params } = members(question);
  if (method === "sampling/createMessage") return isObject(capabilities["sampling"]);
  if (method === "roots/list") return isObject(capabilities["roots"]);
  if (method !== "elicitation/create") return false;
  const { elicitation } = capabilities;
  if (!isObject(elicitation)) return false;
  const { mode = "form" } = members(params);
  // `elicitation: {}` is a client that knows forms only.
  if (mode === "form") return elicitation["form"] !== undefined || elicitation["url"] === undefined;
  return mode === "url" && elicitation["url"] !== undefined;
}

/**
 * What the call ends with: the server's own error, where there is one. Else it reaches the caller as a `ProtocolError`
 * whose `data.reason` is the code that `CallError` has for it.
 */
export function errorOf(fault: unknown, taskId: string | undefined): RpcError {
  const known = fault instanceof CallError ? fault : new CallError("refused", textOf(fault));
  const { rpc, code, message, question } = known;
  if (rpc !== undefined) return harmless(rpc);
  const data = { reason: code, ...(taskId && { taskId }), ...(question && { question }) };
  return { code: internalError, message, data };
}

/** The code that says that headers were wrong. */
const headerMismatch = -32_020;

/**
 * To the official client that code means to send the whole call again, which is not what the end of a task may
 * cause.
 */
function harmless(error: RpcError): RpcError {
  if (error.code !== headerMismatch) return error;
  const { code, data, message } = error;
  return { code: internalError, message, data: { code, data } };
}
