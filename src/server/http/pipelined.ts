// Requests that a client sends before it has the responses to earlier ones, on one connection.

import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";

/**
 * A response that waits for others is told nothing by Node when its connection ends: what runs for it would go on, and
 * a closing server would wait for it for ever. Once it is its turn, Node tells it.
 */
export function closeWithConnection(res: ServerResponse, connection: Socket): void {
  const isItsTurn = res.socket !== null;
  if (isItsTurn) return;
  const onClose = () => void res.destroy().emit("close");
  // As many as the client likes: no leak of ours.
  connection.setMaxListeners(0).once("close", onClose);
  res.once("socket", () => connection.off("close", onClose));
}
