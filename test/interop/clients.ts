// The official clients, v1 and v2, with the same handlers.

import {
  Client as ClientV2,
  StreamableHTTPClientTransport as HttpV2,
} from "@modelcontextprotocol/client";
import type { ClientOptions, Transport as TransportV2 } from "@modelcontextprotocol/client";
import { StdioClientTransport as StdioV2 } from "@modelcontextprotocol/client/stdio";
import { Client as ClientV1 } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport as StdioV1 } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport as HttpV1 } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import {
  CreateMessageRequestSchema,
  ElicitRequestSchema,
  ListRootsRequestSchema,
} from "@modelcontextprotocol/sdk/types.js";
import type { People } from "./people.ts";

/** Where a server is: at a URL, or behind a command to start. */
export type Place =
  | { readonly url: string; readonly fetch?: typeof fetch }
  | { readonly command: string; readonly args: string[]; readonly cwd: string };

/** Or behind a transport. */
export interface Joined {
  readonly transport: TransportV2;
}

export interface Connected {
  readonly tool: (
    name: string,
    args?: Record<string, unknown>,
    onProgress?: (progress: number) => void,
  ) => Promise<Told>;
  readonly prompt: (name: string, args?: Record<string, string>) => Promise<string>;
  readonly read: (uri: string) => Promise<string>;
  readonly toolNames: () => Promise<string[]>;
  readonly close: () => Promise<void>;
}

export interface Told {
  readonly text: string;
  readonly isError: boolean;
  readonly data: unknown;
}

const info = { name: "interop", version: "1.0.0" };
const capabilities = { elicitation: { form: {}, url: {} }, sampling: {}, roots: {} };

type Negotiation = NonNullable<ClientOptions["versionNegotiation"]>;

export const modern: Negotiation = { mode: { pin: "2026-07-28" } };
export const legacy: Negotiation = { mode: "legacy" };

export async function connectV2(
  place: Place | Joined,
  people: People,
  versionNegotiation: Negotiation,
): Promise<Connected> {
  const client = new ClientV2(info, { capabilities, versionNegotiation });
  client.setRequestHandler("elicitation/create", async ({ params }) =>
    params.mode === "url" ? people.url(params.message) : people.form(params.message),
  );
  client.setRequestHandler("sampling/createMessage", async ({ params }) =>
    completion(people, params.messages),
  );
  client.setRequestHandler("roots/list", async () => ({ roots: people.roots() }));
  const transport = transportV2(place);
  await client.connect(transport);
  return {
    tool: async (name, args = {}, onProgress) =>
      told(await client.callTool({ name, arguments: args }, heard(onProgress))),
    prompt: async (name, args = {}) =>
      texts((await client.getPrompt({ name, arguments: args })).messages.map((m) => m.content)),
    read: async (uri) => texts((await client.readResource({ uri })).contents),
    toolNames: async () => (await client.listTools()).tools.map(({ name }) => name),
    close: async () => {
      if (transport instanceof HttpV2) await transport.terminateSession().catch(gone);
      await client.close();
    },
  };
}

// The server may be gone by now.
const gone = () => {};

function transportV2(place: Place | Joined): TransportV2 {
  if ("transport" in place) return place.transport;
  return "url" in place
    ? new HttpV2(new URL(place.url), place.fetch ? { fetch: place.fetch } : {})
    : new StdioV2({ ...place, stderr: "ignore" });
}

export async function connectV1(place: Place, people: People): Promise<Connected> {
  const client = new ClientV1(info, { capabilities });
  client.setRequestHandler(ElicitRequestSchema, async ({ params }) =>
    params.mode === "url" ? people.url(params.message) : people.form(params.message),
  );
  client.setRequestHandler(CreateMessageRequestSchema, async ({ params }) =>
    completion(people, params.messages),
  );
  client.setRequestHandler(ListRootsRequestSchema, async () => ({ roots: people.roots() }));
  const transport =
    "url" in place
      ? new HttpV1(new URL(place.url), place.fetch ? { fetch: place.fetch } : {})
      : new StdioV1({ ...place, stderr: "ignore" });
  await client.connect(transport);
  return {
    tool: async (name, args = {}, onProgress) =>
      told(await client.callTool({ name, arguments: args }, undefined, heard(onProgress))),
    prompt: async (name, args = {}) =>
      texts((await client.getPrompt({ name, arguments: args })).messages.map((m) => m.content)),
    read: async (uri) => texts((await client.readResource({ uri })).contents),
    toolNames: async () => (await client.listTools()).tools.map(({ name }) => name),
    close: async () => {
      if (transport instanceof HttpV1) await transport.terminateSession().catch(gone);
      await client.close();
    },
  };
}

/** A client sends a progress token only if it has a listener. The v2 client also reports its own rounds, without a total. */
function heard(listener: ((progress: number) => void) | undefined) {
  const onprogress = ({ progress, total }: { progress: number; total?: number | undefined }) => {
    if (total !== undefined) listener?.(progress);
  };
  return listener && { onprogress };
}

function completion(people: People, messages: readonly { readonly content: unknown }[]) {
  const text = people.model(texts(messages.map(({ content }) => content)));
  return {
    role: "assistant" as const,
    content: { type: "text" as const, text },
    model: "interop",
    stopReason: "endTurn",
  };
}

function told(result: { [member: string]: unknown }): Told {
  const { content, isError, structuredContent } = result;
  return {
    text: texts(Array.isArray(content) ? content : []),
    isError: isError === true,
    data: structuredContent,
  };
}

/** The text in content blocks. */
function texts(blocks: readonly unknown[]): string {
  return blocks
    .flat()
    .flatMap((block) =>
      typeof block === "object" && block !== null && "text" in block ? [String(block.text)] : [],
    )
    .join("\n");
}
