// The request and the notifications of the streaming extension, written by hand for every opponent alike.

const extension = "io.github.mcp-parley/streaming";

export const partMethod = `notifications/${extension}/part`;

export const headers = {
  "content-type": "application/json",
  accept: "application/json, text/event-stream",
  "mcp-protocol-version": "2026-07-28",
  "mcp-method": "tools/call",
  "mcp-name": "stream",
};

/** The text of a call that streams so many pieces. */
export const call = (count: number, perTurn: number): string =>
  JSON.stringify({
    jsonrpc: "2.0",
    id: 1,
    method: "tools/call",
    params: {
      name: "stream",
      arguments: { count, perTurn },
      _meta: {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { name: "bench", version: "1.0.0" },
        "io.modelcontextprotocol/clientCapabilities": { extensions: { [extension]: {} } },
        [extension]: { token: "s" },
      },
    },
  });

interface Message {
  readonly params?: { readonly content?: readonly { readonly text: string }[] };
  readonly result?: object;
}

/** How many characters the parts have together. Throws if the response is not whole. */
export function streamedIn(text: string): number {
  const messages = text
    .split("\n")
    .filter((line) => line.startsWith("data: "))
    .map((line): Message => JSON.parse(line.slice("data: ".length)));
  if (messages.at(-1)?.result === undefined) throw new Error(`No result: ${text.slice(-500)}`);
  return messages
    .flatMap(({ params }) => params?.content ?? [])
    .reduce((sum, part) => sum + part.text.length, 0);
}
