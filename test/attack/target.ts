// Starts a server under attack, measures what it has used, and sends it requests as bytes.

import { mkdtempSync, rmSync } from "node:fs";
import { connect } from "node:net";
import type { Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadDriver } from "../../src/tasks/stores/sqlite/driver.ts";
import { startProgram } from "../programs.ts";
import { envelope } from "../wire/post.ts";
import type { Message } from "../wire/post.ts";

export interface Target {
  readonly url: string;
  /** The processor time that the process has used, in microseconds. */
  readonly cpu: () => Promise<number>;
  /** What it holds after a garbage collection, in bytes. */
  readonly memory: () => Promise<number>;
  /** The memory of the whole process after a garbage collection. Forgets the peak so far. */
  readonly rest: () => Promise<number>;
  /** The most memory that the process has had since it was at rest. */
  readonly peak: () => Promise<number>;
  /** How large the data in its store is, in bytes. */
  readonly stored: () => number;
  readonly stop: () => void;
}

export interface TargetOptions {
  readonly entry: "fast" | "sdk";
  readonly auth: boolean;
  readonly limits?: Readonly<Record<string, number>>;
}

/** How large the heap of every target may grow. */
const heap = "--max-old-space-size=1024";

export async function startTarget({ entry, auth, limits = {} }: TargetOptions): Promise<Target> {
  const folder = mkdtempSync(join(tmpdir(), "parley-attack-"));
  const path = join(folder, "tasks.db");
  const { lines, kill } = startProgram("test/attack/server.ts", {
    NODE_OPTIONS: heap,
    TARGET_ENTRY: entry,
    TARGET_AUTH: auth ? "1" : "0",
    TARGET_STORE: path,
    TARGET_LIMITS: JSON.stringify(limits),
  });
  for await (const line of lines) {
    const { url, meter }: { url: string; meter: string } = JSON.parse(line);
    const read = (name: string) => async () => Number(await (await fetch(meter + name)).text());
    const database = (await loadDriver())(path);
    database.exec("pragma busy_timeout = 30000");
    const pragma = (name: string) =>
      Number(Object.values(database.prepare(`pragma ${name}`).all()[0] ?? {})[0]);
    return {
      url,
      cpu: read("/cpu"),
      memory: read("/memory"),
      rest: read("/rest"),
      peak: read("/peak"),
      stored: () => (pragma("page_count") - pragma("freelist_count")) * pragma("page_size"),
      stop: () => {
        kill("SIGKILL");
        database.close();
        rmSync(folder, { recursive: true, force: true });
      },
    };
  }
  throw new Error("The target ended before it listened.");
}

// ---------------------------------------------------------------- requests as bytes

export interface RawRequest {
  readonly message: Message;
  readonly token?: string | undefined;
  /** Headers that say how long the body is, and others. */
  readonly framing: string;
}

export function headOf({ url }: Target, { message, token, framing }: RawRequest): string {
  const name = message.params["name"] ?? message.params["uri"] ?? message.params["taskId"];
  return [
    "POST /mcp HTTP/1.1",
    `host: ${new URL(url).host}`,
    "content-type: application/json",
    "accept: application/json, text/event-stream",
    "mcp-protocol-version: 2026-07-28",
    `mcp-method: ${message.method}`,
    ...(typeof name === "string" ? [`mcp-name: ${name}`] : []),
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

/** Sends the bytes on a connection of their own. The attacker does not care whether they all arrive. */
export async function sendTo({ url }: Target, bytes: string | Buffer): Promise<Connection> {
  const socket = connect(Number(new URL(url).port), "127.0.0.1");
  socket.on("error", () => {});
  const status = new Promise<number>((resolve) => {
    socket.once("data", (chunk) => resolve(Number(chunk.toString().slice(9, 12))));
    socket.once("close", () => resolve(0));
  });
  await new Promise<void>((resolve) => {
    socket.once("connect", resolve);
    socket.once("close", () => resolve());
  });
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
