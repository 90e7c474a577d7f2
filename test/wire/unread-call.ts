// A client that has sent its request over a socket of its own, and reads only when the test says so.

import { connect } from "node:net";
import type { Socket } from "node:net";
import { onTestFinished } from "vitest";

/** Connects, sends a request for `method` and `name`, and leaves the response unread. `more` is added to the headers. */
export async function unreadCall(
  to: string,
  method: string,
  name: string,
  message: object,
  more = "",
): Promise<Socket> {
  const { hostname, port } = new URL(to);
  const socket = connect(Number(port), hostname);
  socket.pause();
  socket.on("error", () => {});
  onTestFinished(() => void socket.destroy());
  await new Promise<void>((resolve) => void socket.once("connect", resolve));
  send(socket, to, method, name, message, more);
  return socket;
}

/** Sends a request on a connection. */
export function send(
  socket: Socket,
  to: string,
  method: string,
  name: string,
  message: object,
  more = "",
): void {
  const { host, pathname } = new URL(to);
  const body = JSON.stringify(message);
  socket.write(
    `POST ${pathname} HTTP/1.1\r\nhost: ${host}\r\ncontent-type: application/json\r\n` +
      `accept: application/json, text/event-stream\r\nmcp-protocol-version: 2026-07-28\r\n` +
      `mcp-method: ${method}\r\nmcp-name: ${name}\r\n${more}content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );
}
