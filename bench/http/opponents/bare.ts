// Plain `node:http`: it parses the request, writes a response of the same size, and does nothing else. It sends the
// responses that the fast entry gave to the same requests, and serializes them again each time.
//
// `batched` is the same server, except that responses which are ready in the same turn of the event loop are sent
// together, as Parley's fast entry sends them. The code is its own, so that a mistake of Parley's would show.

import { createServer } from "node:http";
import type { ServerResponse } from "node:http";
import { listening } from "./opponent.ts";
import type { Start } from "./opponent.ts";

type Send = (res: ServerResponse, body: string) => void;

const startWith =
  (newSend: () => Send): Start =>
  async () => {
    const send = newSend();
    let answers: readonly unknown[] = [{ jsonrpc: "2.0", id: 0, result: {} }];
    const server = createServer((req, res) => {
      const parts: Buffer[] = [];
      req.on("data", (part: Buffer) => parts.push(part));
      req.on("end", () => {
        const { id }: { readonly id: number } = JSON.parse(Buffer.concat(parts).toString());
        send(res, JSON.stringify(answers[id]));
      });
    });
    return {
      port: await listening(server),
      tell: (what) => {
        if (Array.isArray(what)) answers = what;
      },
    };
  };

const sendNow: Send = (res, body) => {
  res.writeHead(200, {
    "content-type": "application/json",
    "content-length": Buffer.byteLength(body),
  });
  res.end(body);
};

function sendTogether(): Send {
  let waiting: { readonly res: ServerResponse; readonly body: string }[] = [];
  const sendAll = () => {
    const all = waiting;
    waiting = [];
    for (const { res, body } of all) sendNow(res, body);
  };
  return (res, body) => {
    if (waiting.push({ res, body }) === 1) setImmediate(sendAll);
  };
}

export const startBare = startWith(() => sendNow);
export const startBatched = startWith(sendTogether);
