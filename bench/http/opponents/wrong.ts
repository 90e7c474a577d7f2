// For the test of the benchmark: a server that responds correctly a few times, and then wrongly.

import { createServer } from "node:http";
import { implementation, listening } from "./opponent.ts";
import type { Start } from "./opponent.ts";

const rightTimes = 20;

export const start: Start = async () => {
  let served = 0;
  const server = createServer((req, res) => {
    const parts: Buffer[] = [];
    req.on("data", (part: Buffer) => parts.push(part));
    req.on("end", () => {
      served += 1;
      const { id, params } = JSON.parse(Buffer.concat(parts).toString());
      const text = served > rightTimes ? "something else" : params.arguments.text;
      const result = { content: [{ type: "text", text }], serverInfo: implementation };
      res.writeHead(200, { "content-type": "application/json" });
      res.end(JSON.stringify({ jsonrpc: "2.0", id, result }));
    });
  });
  return { port: await listening(server) };
};
