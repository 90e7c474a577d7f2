// The smoke app in a process of Node, Bun or Deno, with tasks in a file. It prints its address when it is ready.

import { sqliteStore } from "mcp-parley/sqlite";
import { smokeApp } from "./smoke-app.ts";

type Fetch = (request: Request) => Promise<Response>;

declare const Bun: {
  serve: (options: { hostname: string; port: number; fetch: Fetch }) => { url: URL };
};
declare const Deno: {
  serve: (
    options: { hostname: string; port: number; onListen: () => void },
    fetch: Fetch,
  ) => { addr: { port: number } };
};

const app = smokeApp({ store: sqliteStore("tasks.db") });
process.stdout.write(`ready at ${await address()}\n`);

async function address(): Promise<string> {
  const where = { hostname: "127.0.0.1", port: 0 };
  if (!("Bun" in globalThis) && !("Deno" in globalThis)) return (await app.listen(0)).url;
  await app.work();
  if ("Bun" in globalThis) return Bun.serve({ ...where, fetch: app.fetch }).url.href;
  const { addr } = Deno.serve({ ...where, onListen: () => {} }, app.fetch);
  return `http://127.0.0.1:${addr.port}/`;
}
