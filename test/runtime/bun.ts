// How an app is served on Bun.

import type { App } from "mcp-parley";

declare const Bun: {
  serve: (options: {
    hostname: string;
    port: number;
    idleTimeout: number;
    fetch: (request: Request) => Promise<Response>;
  }) => { port: number };
};

/** Returns the port. */
export async function onBun(app: App, port: number): Promise<number> {
  const hostname = "127.0.0.1"; // Otherwise every machine that can reach this one may call it.
  await app.work(); // Tasks run in this process.
  // By default, Bun closes a connection that is silent for ten seconds, as a stream can be. 0 turns that off.
  const server = Bun.serve({ hostname, port, idleTimeout: 0, fetch: app.fetch });
  return server.port;
}
