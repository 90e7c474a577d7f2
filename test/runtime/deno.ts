// How an app is served on Deno.

import type { App } from "mcp-parley";

declare const Deno: {
  serve: (
    options: { hostname: string; port: number },
    fetch: (request: Request) => Promise<Response>,
  ) => { addr: { port: number } };
};

/** Returns the port. */
export async function onDeno(app: App, port: number): Promise<number> {
  const hostname = "127.0.0.1"; // Otherwise every machine that can reach this one may call it.
  await app.work(); // Tasks run in this process.
  const server = Deno.serve({ hostname, port }, app.fetch);
  return server.addr.port;
}
