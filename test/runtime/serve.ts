// The smoke app in a process of Node, Bun or Deno, with tasks in a file. It prints its address when it is ready.

import { sqliteStore } from "mcp-parley/sqlite";
import { onBun } from "./bun.ts";
import { onDeno } from "./deno.ts";
import { smokeApp } from "./smoke-app.ts";

const app = smokeApp({ store: sqliteStore("tasks.db") });
process.stdout.write(`ready at ${await address()}\n`);

async function address(): Promise<string> {
  if ("Bun" in globalThis) return `http://127.0.0.1:${await onBun(app, 0)}/`;
  if ("Deno" in globalThis) return `http://127.0.0.1:${await onDeno(app, 0)}/`;
  return (await app.listen(0)).url;
}
