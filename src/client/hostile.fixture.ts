// A server that responds with whatever a test wants.

import { createServer } from "node:http";
import type { IncomingHttpHeaders, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

interface Message {
  readonly id: string | number;
  readonly method: string;
  readonly params: { readonly [name: string]: unknown };
}

interface Heard extends Message {
  readonly headers: IncomingHttpHeaders;
}

/** Returns a result or a JSON-RPC error. Returns undefined if it writes to the HTTP response itself. */
export type Saying = (
  message: Message,
  response: ServerResponse,
) => object | undefined | Promise<object | undefined>;

export interface Hostile {
  readonly url: string;
  /** The requests it received, except `server/discover` and `subscriptions/listen`. */
  readonly heard: Heard[];
  readonly close: () => Promise<void>;
}

const discovered = (extensions: object) => ({
  resultType: "complete",
  supportedVersions: ["2026-07-28"],
  capabilities: {
    tools: {},
    prompts: {},
    resources: {},
    extensions: { "io.modelcontextprotocol/tasks": {}, ...extensions },
  },
  ttlMs: 0,
  cacheScope: "private",
  _meta: { "io.modelcontextprotocol/serverInfo": { name: "hostile", version: "1.0.0" } },
});

/** `extensions` are those that it declares besides tasks. */
export async function hostile(
  say: Saying,
  listen?: Saying,
  extensions: object = {},
): Promise<Hostile> {
  const heard: Heard[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const message: Message = JSON.parse(Buffer.concat(chunks).toString());
    const reply = (result: object) => {
      response.setHeader("content-type", "application/json");
      const members = "code" in result ? { error: result } : { result };
      response.end(JSON.stringify({ jsonrpc: "2.0", id: message.id, ...members }));
    };
    if (message.method === "server/discover") return reply(discovered(extensions));
    if (message.method === "subscriptions/listen") {
      const said = await listen?.(message, response);
      if (listen === undefined) reply({ code: -32_601, message: "no" });
      else if (said !== undefined) reply(said);
      return;
    }
    heard.push({ ...message, headers: request.headers });
    const said = await say(message, response);
    if (said !== undefined) reply(said);
  });
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    heard,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

export const form = (message: string) => ({
  method: "elicitation/create",
  params: {
    mode: "form",
    message,
    requestedSchema: { type: "object", properties: { name: { type: "string" } } },
  },
});

const time = "2026-11-15T09:30:00Z";

export const taskOf = (taskId: string, members: object) => ({
  taskId,
  status: "working",
  createdAt: time,
  lastUpdatedAt: time,
  ttlMs: 60_000,
  pollIntervalMs: 1,
  ...members,
});
