// Plain `node:http`: it parses the request, writes a response of the same size, and does nothing else. It sends the
// responses that the fast entry gave to the same requests, and serializes them again each time.

import { createServer } from "node:http";
import { listening } from "./opponent.ts";
import type { Start } from "./opponent.ts";

export const start: Start = async () => {
  let answers: readonly unknown[] = [{ jsonrpc: "2.0", id: 0, result: {} }];
  const server = createServer((req, res) => {
    const parts: Buffer[] = [];
    req.on("data", (part: Buffer) => parts.push(part));
    req.on("end", () => {
      const { id }: { readonly id: number } = JSON.parse(Buffer.concat(parts).toString());
      const body = JSON.stringify(answers[id]);
      res.writeHead(200, {
        "content-type": "application/json",
        "content-length": Buffer.byteLength(body),
      });
      res.end(body);
    });
  });
  return {
    port: await listening(server),
    tell: (what) => {
      if (Array.isArray(what)) answers = what;
    },
  };
};
