// Bodies in so many tiny chunks that reading them costs far more than sending them.
//
// Node parses a whole packet at once, and a packet has room for eleven thousand chunks of one byte. Node makes a buffer of
// each and passes it on, even if the request has been destroyed meanwhile. That costs as much as twenty calls, and no
// public function ends it. So this file takes away the function that Node's parser would pass the chunks to, and the
// parser then skips them. If another version of Node has a parser that is made differently, nothing happens here, and such
// a body costs more but is refused all the same.

import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import { isCrumbled } from "./collected-bytes.ts";

/** Where Node's parser keeps its functions. */
const bodyAt = 3;
const endAt = 4;

type Callback = (this: unknown, ...values: unknown[]) => unknown;
type Parser = Record<number, Callback | undefined>;

/** Skips the rest of a body as soon as it is too crumbled. Call it at once when the request comes. */
export function skipCrumbs(req: IncomingMessage): void {
  if (req.headers["transfer-encoding"] === undefined || req.complete) return;
  const { socket } = req;
  const parser = parserOf(socket);
  const onBody = parser?.[bodyAt];
  const onEnd = parser?.[endAt];
  if (parser === undefined || onBody?.name !== "parserOnBody" || onEnd === undefined) return;
  let chunks = 0;
  let bytes = 0;
  let isSkipped = false;
  // Node uses the parser again for other connections.
  const restore = () => {
    parser[bodyAt] = onBody;
    parser[endAt] = onEnd;
    socket.off("close", restore);
  };
  const cut = () => {
    parser[bodyAt] = undefined;
    socket.destroy();
  };
  parser[bodyAt] = function count(...values) {
    const [chunk] = values;
    chunks += 1;
    bytes += chunk instanceof Uint8Array ? chunk.length : 0;
    const passedOn = onBody.apply(this, values);
    if (isCrumbled(chunks, bytes) || req.destroyed) {
      isSkipped = true;
      parser[bodyAt] = undefined;
      // The rest of this packet is skipped. By the next one, the request has been refused.
      setImmediate(() => {
        if (parser[endAt] === end && parserOf(socket) === parser) parser[bodyAt] = cut;
      });
    }
    return passedOn;
  };
  const end: Callback = function end(...values) {
    restore();
    // What was read must not pass for the whole body, so the request never ends. Its refusal cuts the connection.
    return isSkipped ? undefined : onEnd.apply(this, values);
  };
  parser[endAt] = end;
  socket.prependOnceListener("close", restore);
}

function parserOf(socket: Socket): Parser | undefined {
  const parser: unknown = Reflect.get(socket, "parser");
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- each function is checked before it is used
  return typeof parser === "object" && parser !== null ? (parser as Parser) : undefined;
}
