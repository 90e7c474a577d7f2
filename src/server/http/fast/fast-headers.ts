// What the headers of a request say: enough to know whether the fast entry may be able to serve it.
// (Host and Origin are checked earlier, in listen.ts.)

import type { IncomingMessage } from "node:http";
import { isJsonContentType } from "@modelcontextprotocol/server";
import { modernVersion } from "../../../protocol/versions.ts";
import { isMethod, subjectOf } from "./fast-message.ts";
import type { FastMethod, Message } from "./fast-message.ts";

/** The MCP method that the headers name, if the fast entry can serve it. */
export function methodIn({ method: verb, url, headers }: IncomingMessage): FastMethod | undefined {
  const { "mcp-method": method, "content-type": type } = headers;
  // HTTP/2 has ":authority" instead of "host".
  const host = headers.host ?? headers[":authority"];
  const isOurs =
    typeof method === "string" &&
    isMethod(method) &&
    verb === "POST" &&
    headers["mcp-protocol-version"] === modernVersion &&
    isJsonContentType(type ?? null) &&
    // The SDK decides about an absolute URL, which clients send to a proxy.
    url?.startsWith("/") === true &&
    isInUrls(host);
  return isOurs ? method : undefined;
}

/** Whether the SDK, which builds a URL from every request, can build one with this host. */
function isInUrls(host: string | readonly string[] = "localhost"): boolean {
  if (host === lastValidHost) return true;
  if (typeof host !== "string" || host.includes("@") || !URL.canParse(`http://${host}`))
    return false;
  lastValidHost = host;
  return true;
}

// Most requests have the same host, and parsing it as a URL takes as long as all other checks together.
let lastValidHost: string | undefined;

/** Whether `Mcp-Name`, plain or in Base64, names what the body is about. */
export function isNamed({ headers }: IncomingMessage, message: Message): boolean {
  const name = headers["mcp-name"];
  if (typeof name !== "string") return false;
  const subject = subjectOf(message);
  const isEncoded = name.startsWith("=?base64?") && name.endsWith("?=");
  return isEncoded ? isEncodedName(name, subject) : name === subject;
}

/** All lone surrogates have the same bytes, so equal bytes alone do not prove an equal name. */
function isEncodedName(name: string, subject: string): boolean {
  const bytes = Buffer.from(subject);
  return name === `=?base64?${bytes.toString("base64")}?=` && bytes.toString() === subject;
}
