// Requests that a client sends on one connection before it has the responses to earlier ones.

import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";

/**
 * Closes a response when its connection closes. Before version 24, Node does this only for the response whose turn it is.
 * Without it, the work for a response that waits behind others would go on, and a closing server would wait for it forever.
 */
export function closeWithConnection(res: ServerResponse, connection: Socket): void {
  const isItsTurn = res.socket !== null;
  if (isItsTurn) return;
  let isClosed = false;
  res.once("close", () => (isClosed = true));
  const onClose = () => {
    res.destroy();
    // By then Node has closed it, if it does that by itself.
    setImmediate(() => isClosed || res.emit("close"));
  };
  // The client decides how many requests it pipelines, so many listeners are not a leak.
  connection.setMaxListeners(0).once("close", onClose);
  res.once("socket", () => connection.off("close", onClose));
}
