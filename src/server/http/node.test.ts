// What the entry for Node's `http` adds to the SDK's.

import { createServer } from "node:http";
import { expect, test } from "vitest";
import { nodeHandler } from "./node.ts";
import type { Serving } from "./web.ts";

test("a stream that a client opens begins at once, even if nothing is sent on it", async () => {
  const stream = () =>
    new Response(new ReadableStream(), { headers: { "content-type": "text/event-stream" } });
  const serving = {
    caller: () => ({ authInfo: undefined, principal: undefined }),
    bodies: { ofNode: () => ({ kind: "text", text: "" }) },
    serve: async () => stream(),
  } as unknown as Serving;
  const server = createServer((req, res) => void nodeHandler(serving)(req, res));
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  const port = typeof address === "object" ? address?.port : undefined;
  const response = await fetch(`http://127.0.0.1:${port}/mcp`);
  expect(response.headers.get("content-type")).toBe("text/event-stream");
  await response.body?.cancel();
  server.closeAllConnections();
  await new Promise((resolve) => void server.close(resolve));
});
