// Starts a server under attack, and measures what it has used.

import { once } from "node:events";
import { connect } from "node:net";
import type { Socket } from "node:net";
import { onTestFinished } from "vitest";
import { startProgram } from "../programs.ts";
import { envelope } from "../wire/post.ts";
import type { Message } from "../wire/post.ts";

export interface Target {
  readonly url: string;
  /** The processor time that the process has used, in microseconds. */
  readonly cpu: () => Promise<number>;
  /** What it holds after a garbage collection, in bytes. */
  readonly memory: () => Promise<number>;
}

export interface TargetOptions {
  readonly entry: "fast" | "sdk";
  readonly auth: boolean;
}

/** How large the heap of every target may grow. */
const heap = "--max-old-space-size=1024";

export async function startTarget({ entry, auth }: TargetOptions): Promise<Target> {
  const { lines, kill } = startProgram("test/attack/server.ts", {
    NODE_OPTIONS: heap,
    TARGET_ENTRY: entry,
    TARGET_AUTH: auth ? "1" : "0",
  });
  onTestFinished(() => kill("SIGKILL"));
  for await (const line of lines) {
    const { url, meter }: { url: string; meter: string } = JSON.parse(line);
    const read = async (path: string) => Number(await (await fetch(meter + path)).text());
    return { url, cpu: () => read("/cpu"), memory: () => read("/memory") };
  }
  throw new Error("The target ended before it listened.");
}

// ---------------------------------------------------------------- requests as bytes

export interface RawRequest {
  readonly message: Message;
  readonly token?: string | undefined;
  /** Headers that say how long the body is. */
  readonly framing: string;
}

export function headOf({ url }: Target, { message, token, framing }: RawRequest): string {
  const name = message.params["name"] ?? message.params["uri"];
  return [
    "POST /mcp HTTP/1.1",
    `host: ${new URL(url).host}`,
    "content-type: application/json",
    "accept: application/json, text/event-stream",
    "mcp-protocol-version: 2026-07-28",
    `mcp-method: ${message.method}`,
    `mcp-name: ${String(name)}`,
    framing,
    ...(token === undefined ? [] : [`authorization: Bearer ${token}`]),
    "",
    "",
  ].join("\r\n");
}

export interface Connection {
  readonly socket: Socket;
  /** The status of the first response, or 0 if the connection closed without one. */
  readonly status: Promise<number>;
}

/** A connection of its own, on which the bytes are sent. The attacker does not care whether they all arrive. */
export async function sendTo({ url }: Target, bytes: string | Buffer): Promise<Connection> {
  const socket = connect(Number(new URL(url).port), "127.0.0.1");
  socket.on("error", () => {});
  const status = new Promise<number>((resolve) => {
    socket.once("data", (chunk) => resolve(Number(chunk.toString().slice(9, 12))));
    socket.once("close", () => resolve(0));
  });
  await once(socket, "connect");
  socket.write(bytes);
  return { socket, status };
}

export const plain: Message = envelope("tools/call", { name: "plain", arguments: {} });

export function whole(target: Target, message: Message, token?: string, body?: string): string {
  const text = body ?? JSON.stringify(message);
  const framing = `content-length: ${Buffer.byteLength(text)}`;
  return headOf(target, { message, token, framing }) + text;
}

/** Sends a request and waits for its response. */
export async function sent(target: Target, bytes: string | Buffer): Promise<number> {
  const { socket, status } = await sendTo(target, bytes);
  const code = await status;
  socket.destroy();
  return code;
}

/** What a plain call costs, each on a connection of its own as the attacks are, in microseconds of processor time. */
export async function plainCost(target: Target, token?: string): Promise<number> {
  const bytes = whole(target, plain, token);
  const measured = 100;
  for (let count = 0; count < 100; count += 1) await sent(target, bytes);
  const before = await target.cpu();
  for (let count = 0; count < measured; count += 1) await sent(target, bytes);
  return ((await target.cpu()) - before) / measured;
}
