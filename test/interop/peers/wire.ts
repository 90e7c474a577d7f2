// What of an HTTP exchange is kept: the headers that the protocol defines, and the messages.

import type { IncomingMessage, Server, ServerResponse } from "node:http";

/** Headers that belong to one connection. */
export const hopByHop = [
  "connection",
  "content-length",
  "content-encoding",
  "transfer-encoding",
  "host",
];

const kept = ["accept", "content-type", "mcp-method", "mcp-name", "mcp-protocol-version"];

export function headersOf(headers: Headers): Record<string, string> {
  const entries = [...headers].filter(
    ([name]) => kept.includes(name) || name === "mcp-session-id" || name.startsWith("mcp-param-"),
  );
  return Object.fromEntries(
    entries.map(([name, value]) => [name, name === "content-type" ? typeOf(value) : value]),
  );
}

/** Listens on a free port of this machine, and returns the port. */
export async function listening(server: Server): Promise<number> {
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  return typeof address === "object" && address !== null ? address.port : 0;
}

/** Ends the connection of a request that could not be served, unless its client has left in the middle of it. */
export const broken = (response: ServerResponse) => (error: unknown) => {
  const hasLeft = error instanceof Error && "code" in error && error.code === "ECONNRESET";
  if (!hasLeft) response.destroy(error instanceof Error ? error : new Error(String(error)));
};

/** Closes a server with all its connections. */
export const closed = (server: Server) =>
  new Promise<void>((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });

/** The headers of a request that arrived, without those that belong to its connection. */
export function arrivedHeaders({ headers }: IncomingMessage): Headers {
  return new Headers(
    Object.entries(headers).flatMap(([name, value]) =>
      hopByHop.includes(name) || typeof value !== "string" ? [] : [[name, value] as const],
    ),
  );
}

/** The body of a request that arrived. */
export async function bodyOf(request: IncomingMessage): Promise<string> {
  let body = "";
  for await (const chunk of request.setEncoding("utf8")) body += String(chunk);
  return body;
}

/** A content type without its parameters. */
function typeOf(value: string): string {
  return value.split(";")[0]?.trim() ?? "";
}

export const isStream = (headers: Headers) =>
  typeOf(headers.get("content-type") ?? "") === "text/event-stream";

/** The messages of an event stream, as they arrive. */
export async function* messagesOf(
  body: ReadableStream<Uint8Array> | null,
  onChunk?: (chunk: Uint8Array) => void,
): AsyncGenerator {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const chunk of body ?? []) {
    onChunk?.(chunk);
    rest += decoder.decode(chunk, { stream: true });
    const events = rest.split(/\r?\n\r?\n/);
    rest = events.pop() ?? "";
    for (const event of events) {
      const data = event
        .split(/\r?\n/)
        .filter((line) => line.startsWith("data:"))
        .map((line) => line.slice(5).trimStart())
        .join("\n");
      if (data !== "") yield JSON.parse(data);
    }
  }
}
