// The process of one opponent that streams: node server.js bare|fast|oversdk. All of them send what the same generator
// yields. The bare one writes an event for each piece and does nothing else.

import { createServer } from "node:http";
import type { IncomingMessage, ServerResponse } from "node:http";
import process from "node:process";
import { text } from "node:stream/consumers";
import { z } from "zod";
import { parley } from "../../src/index.ts";
import { answering } from "../child.ts";
import { benchKey } from "../http/key.ts";
import { listening } from "../http/opponents/opponent.ts";
import { partMethod } from "./wire.ts";

const piece = "twenty bytes of text";

async function* pieces(count: number, perTurn: number): AsyncGenerator<string> {
  for (let made = 1; made <= count; made += 1) {
    yield piece;
    if (made % perTurn === 0) await new Promise<void>((resolve) => void setImmediate(resolve));
  }
}

interface Call {
  readonly id: number;
  readonly params: { readonly arguments: { readonly count: number; readonly perTurn: number } };
}

function startBare(): Promise<number> {
  return listening(createServer((req, res) => void serveBare(req, res)));
}

async function serveBare(req: IncomingMessage, res: ServerResponse): Promise<void> {
  const { id, params }: Call = JSON.parse(await text(req));
  res.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-cache" });
  for await (const one of pieces(params.arguments.count, params.arguments.perTurn)) {
    const content = [{ type: "text", text: one }];
    res.write(event({ method: partMethod, params: { token: "s", block: "text", content } }));
  }
  res.end(event({ id, result: { content: [{ type: "text", text: "done" }] } }));
}

const event = (message: object) =>
  `event: message\ndata: ${JSON.stringify({ jsonrpc: "2.0", ...message })}\n\n`;

async function startParley(fast: boolean): Promise<number> {
  const silent = { debug: () => {}, info: () => {}, warn: console.warn, error: console.error };
  const app = parley({ name: "bench", version: "1.0.0", keys: benchKey, logger: silent });
  const inputSchema = z.object({ count: z.int(), perTurn: z.int() });
  app.tool("stream", { inputSchema }, async ({ count, perTurn }, ctx) => {
    await ctx.stream("text", () => pieces(count, perTurn));
    return "done";
  });
  const { url } = await app.listen(0, { fast });
  return Number(new URL(url).port);
}

const name = process.argv[2];
const port = await (name === "bare" ? startBare() : startParley(name === "fast"));
answering({ port: () => port });
