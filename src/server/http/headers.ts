// What the headers of a request of ours say: enough to know, before its body is read, whether it is one.

import type { IncomingMessage } from "node:http";
import { DEFAULT_MAX_REQUEST_BODY_SIZE, isJsonContentType } from "@modelcontextprotocol/server";
import { isMethod, revision, subjectOf } from "./message.ts";
import type { Message, Method } from "./message.ts";

/** As large a body as the SDK takes. */
export const mostBytes = DEFAULT_MAX_REQUEST_BODY_SIZE;

/** The method it names, if it is one that could be served here. */
export function methodIn({ method: verb, url, headers }: IncomingMessage): Method | undefined {
  const { "mcp-method": method, "content-type": type, "content-length": length } = headers;
  const isOurs =
    typeof method === "string" &&
    isMethod(method) &&
    verb === "POST" &&
    headers["mcp-protocol-version"] === revision &&
    isJsonContentType(type ?? null) &&
    // The whole URL, as to a proxy, is something the SDK has its own opinion of.
    url?.startsWith("/") === true &&
    !(Number(length) > mostBytes);
  return isOurs ? method : undefined;
}

/** Whether `Mcp-Name` says what the body is about, as it is or in Base64. */
export function isNamed({ headers }: IncomingMessage, message: Message): boolean {
  const name = headers["mcp-name"];
  if (typeof name !== "string") return false;
  const subject = subjectOf(message);
  const isEncoded = name.startsWith("=?base64?") && name.endsWith("?=");
  return name === (isEncoded ? `=?base64?${Buffer.from(subject).toString("base64")}?=` : subject);
}
