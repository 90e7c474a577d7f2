// Valid requests, one for each handler and method.

import type { Sent } from "./raw.ts";

export interface Request {
  /** For the name of a test. */
  readonly name: string;
  readonly method: string;
  readonly params: Readonly<Record<string, unknown>>;
  readonly capabilities?: object;
  readonly meta?: Readonly<Record<string, unknown>>;
  readonly bearer?: string;
}

const all = {
  elicitation: { form: {}, url: {} },
  sampling: { tools: {}, context: {} },
  roots: { listChanged: true },
  extensions: { "io.modelcontextprotocol/tasks": {}, "x/y": { deep: [{ er: 1 }] } },
  experimental: {},
};

export const tool = (name: string, args?: object, more: Partial<Request> = {}): Request => ({
  name: `tool ${name}`,
  method: "tools/call",
  params: { name, ...(args === undefined ? {} : { arguments: args }) },
  ...more,
});

export const prompt = (name: string, args?: object, more: Partial<Request> = {}): Request => ({
  ...tool(name, args, more),
  name: `prompt ${name}`,
  method: "prompts/get",
});

export const resource = (uri: string, more: Partial<Request> = {}): Request => ({
  name: `resource ${uri}`,
  method: "resources/read",
  params: { uri },
  ...more,
});

export const task = (verb: string, params: Readonly<Record<string, unknown>>): Request => ({
  name: `tasks/${verb}`,
  method: `tasks/${verb}`,
  params,
});

/** A request to be sent: its message, and the bytes around it. */
export interface Draft extends Sent {
  // oxlint-disable-next-line typescript/no-explicit-any -- to be broken in any way
  message: any;
}

/** The headers of every POST request. */
export const usualHeaders: readonly [name: string, value: string][] = [
  ["host", "127.0.0.1"],
  ["connection", "close"],
  ["content-type", "application/json"],
  ["accept", "application/json, text/event-stream"],
];

export function draftOf(request: Request): Draft {
  const { method, params, capabilities = all, meta = {}, bearer } = request;
  const _meta = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": capabilities,
    "io.modelcontextprotocol/clientInfo": { name: "by hand", version: "1.0.0" },
    ...meta,
  };
  const subject = params["name"] ?? params["uri"] ?? params["taskId"];
  return {
    verb: "POST",
    target: "/mcp",
    version: "1.1",
    headers: [
      ...usualHeaders,
      ["mcp-protocol-version", "2026-07-28"],
      ["mcp-method", method],
      ...(typeof subject === "string"
        ? [["mcp-name", headerSafe(subject)] as [string, string]]
        : []),
      ...(bearer === undefined ? [] : [["authorization", `Bearer ${bearer}`] as [string, string]]),
    ],
    message: structuredClone({ jsonrpc: "2.0", id: 1, method, params: { ...params, _meta } }),
    body: "",
  };
}

function headerSafe(value: string): string {
  const isPlain = /^[!-~](?:[ -~]*[!-~])?$/.test(value) && !/^=\?base64\?.*\?=$/.test(value);
  return isPlain ? value : inBase64(value);
}

export const inBase64 = (value: string) => `=?base64?${Buffer.from(value).toString("base64")}?=`;

/** The body, unless a mutation has replaced it. */
export function finished({ message, ...sent }: Draft): Sent {
  return { ...sent, body: sent.body === "" ? JSON.stringify(message) : sent.body };
}
