// A replica with one tool. Its work never ends in one of the processes, and ends at once in the other.
//
// Usage: node worker.js <sqlite|postgres> <file or url> <lease in ms> <stays|works>

import process from "node:process";
import { parley } from "../../src/index.ts";
import { openStore } from "../../test/faults/place.ts";
import { answering } from "../child.ts";
import { benchKey } from "../http/key.ts";
import { implementation } from "../http/opponents/opponent.ts";

const [kind, at = "", lease, how] = process.argv.slice(2);
const silent = { debug: () => {}, info: () => {}, warn: () => {}, error: console.error };
const store = openStore({
  kind: kind === "postgres" ? "postgres" : "sqlite",
  at,
  leaseMs: Number(lease),
});
const app = parley({ ...implementation, keys: benchKey, logger: silent, store });

let begin: (idempotencyKey: string) => void = () => {};
const began = new Promise<string>((resolve) => (begin = resolve));

app.tool("work", { task: "required" }, async (ctx) => {
  await ctx.background();
  const done = await ctx.step("work", ({ idempotencyKey }) => {
    begin(idempotencyKey);
    return how === "stays" ? new Promise<string>(() => {}) : "done";
  });
  return `it is ${done}`;
});
const { url } = await app.listen(0);

answering({
  url: () => url,
  /** Resolves with the idempotency key when the work begins here. */
  began: () => began,
});
