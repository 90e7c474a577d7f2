// Responses to requests whose bodies the app does not read: the caller is unknown, the path or the host is wrong, or the
// body is too large. Node would read the rest of the body to its end, for minutes, to keep the connection.

import type { IncomingMessage, ServerResponse } from "node:http";
import { forgetCrumbs } from "./crumbled-bodies.ts";

/** How many bytes of a body are read and dropped, so that the connection can be used again. */
const mostBytes = 64 * 1024;
/** A client that sends more chunks than this is hostile, or at least will not miss its response. */
const mostChunks = 256;
/** How long a client has to notice the response to a longer body, before the connection is cut. */
const graceMs = 1_000;

/** Sends a response, and reads no more of the request than it takes to end it cleanly. */
export async function turnAway(
  req: IncomingMessage,
  res: ServerResponse,
  response: Response,
): Promise<void> {
  forgetBody(req);
  const text = await response.text();
  res.writeHead(response.status, Object.fromEntries(response.headers)).end(text);
}

/** Call it when the response is being sent and the body has not been read. */
export function forgetBody(req: IncomingMessage): void {
  if (req.complete) return void req.resume();
  forgetCrumbs(req);
  let bytes = 0;
  let chunks = 0;
  const cut = () => void req.destroy();
  const timer = setTimeout(cut, graceMs).unref();
  const done = () => clearTimeout(timer);
  req.on("data", (chunk: Buffer) => {
    bytes += chunk.length;
    chunks += 1;
    if (chunks > mostChunks) cut();
    else if (bytes > mostBytes) req.pause();
  });
  req.once("end", done).once("close", done).resume();
}
