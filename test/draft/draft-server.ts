// A server that speaks the draft, or claims to, and responds as the test says.

import { draftVersion } from "./peer.ts";

interface Message {
  readonly id?: string | number;
  readonly method: string;
  readonly params: { readonly [name: string]: unknown };
}

/** What the server responds with: a result, or an error. */
export type Saying = (message: Message) => object;

export interface DraftServer {
  readonly fetch: (request: Request) => Promise<Response>;
  /** The requests after `initialize`. */
  readonly heard: Message[];
}

/** `version` is the protocol version that the server agrees to. */
export function draftServer(say: Saying, version = draftVersion): DraftServer {
  const heard: Message[] = [];
  const opening = {
    protocolVersion: version,
    capabilities: { tools: {}, tasks: { cancel: {}, requests: { tools: { call: {} } } } },
    serverInfo: { name: "draft", version: "1.0.0" },
  };
  return {
    heard,
    fetch: async (request) => {
      if (request.method !== "POST") return new Response(null, { status: 405 });
      const message: Message = JSON.parse(await request.text());
      const { id, method } = message;
      if (id === undefined) return new Response(null, { status: 202 });
      if (method !== "initialize") heard.push(message);
      const said = method === "initialize" ? opening : say(message);
      const members = "code" in said ? { error: said } : { result: said };
      return Response.json({ jsonrpc: "2.0", id, ...members });
    },
  };
}

export const notFound = { code: -32601, message: "Method not found" };
