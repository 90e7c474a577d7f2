// What the server of docs/bun.md and docs/deno.md does: one call that asks, becomes a task, and asks again.

import assert from "node:assert/strict";
import { connect } from "mcp-parley/client";

const said: Readonly<Record<string, string>> = { flavour: "lemon", text: "Hello" };

/** Orders a cake from the server. Throws if it is not the right one. */
export async function bakery(url: string, say: (line: string) => void): Promise<void> {
  const server = await connect(url, {
    elicit: ({ key }) => ({ action: "accept", content: { [key]: said[key] ?? "" } }),
  });
  try {
    const { text } = await server.call("bake_cake");
    assert.match(text ?? "", /^lemon-[\w-]+ says "Hello"$/);
  } finally {
    await server.close();
  }
  say("  passed: the server of the page");
}
