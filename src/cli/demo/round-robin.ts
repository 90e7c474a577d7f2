// A load balancer: each request goes to the next replica, whoever served the one before.

import { createServer, request } from "node:http";

export interface RoundRobin {
  readonly url: string;
  readonly close: () => void;
}

export function roundRobin(
  replicas: readonly string[],
  onRequest: (replica: number, method: string) => void,
): Promise<RoundRobin> {
  let next = 0;
  const server = createServer((incoming, response) => {
    const replica = next % replicas.length;
    next += 1;
    const { method, headers } = incoming;
    onRequest(replica, String(headers["mcp-method"]));
    const forwarded = request(replicas[replica] ?? "", { method, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    forwarded.on("error", () => response.writeHead(502).end());
    incoming.pipe(forwarded);
  });
  return new Promise((resolve) => {
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      const port = typeof address === "object" && address !== null ? address.port : 0;
      const close = () => {
        server.close();
        server.closeAllConnections();
      };
      resolve({ url: `http://127.0.0.1:${port}/mcp`, close });
    });
  });
}
