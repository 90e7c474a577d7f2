// What the headers of a request of ours say: enough to know, before its body is read, whether it is one.

import type { IncomingMessage } from "node:http";
import { DEFAULT_MAX_REQUEST_BODY_SIZE, isJsonContentType } from "@modelcontextprotocol/server";
import { isMethod, revision, subjectOf } from "./message.ts";
import type { Message, Method } from "./message.ts";

/** As large a body as the SDK takes. */
export const mostBytes: number = DEFAULT_MAX_REQUEST_BODY_SIZE;

/** The method it names, if it is one that could be served here. */
export function methodIn({ method: verb, url, headers }: IncomingMessage): Method | undefined {
  const { "mcp-method": method, "content-type": type, "content-length": length } = headers;
  // In HTTP/2 the one is named as the other.
  const host = headers.host ?? headers[":authority"];
  const isOurs =
    typeof method === "string" &&
    isMethod(method) &&
    verb === "POST" &&
    headers["mcp-protocol-version"] === revision &&
    isJsonContentType(type ?? null) &&
    // The whole URL, as to a proxy, is something the SDK has its own opinion of.
    url?.startsWith("/") === true &&
    isInUrls(host) &&
    !(Number(length) > mostBytes);
  return isOurs ? method : undefined;
}

/** Whether the SDK, which makes a URL of every request, can make one of this. */
function isInUrls(host: string | readonly string[] = "localhost"): boolean {
  if (host === good) return true;
  if (typeof host !== "string" || host.includes("@") || !URL.canParse(`http://${host}`))
    return false;
  good = host;
  return true;
}

// One after the other has the same, and reading it as a URL takes as long as all other checks.
let good: string | undefined;

/** Whether `Mcp-Name` says what the body is about, as it is or in Base64. */
export function isNamed({ headers }: IncomingMessage, message: Message): boolean {
  const name = headers["mcp-name"];
  if (typeof name !== "string") return false;
  const subject = subjectOf(message);
  const isEncoded = name.startsWith("=?base64?") && name.endsWith("?=");
  return isEncoded ? isEncodedName(name, subject) : name === subject;
}

/** Every lone surrogate has the same bytes, so bytes that are equal say nothing there. */
function isEncodedName(name: string, subject: string): boolean {
  const bytes = Buffer.from(subject);
  return name === `=?base64?${bytes.toString("base64")}?=` && bytes.toString() === subject;
}
