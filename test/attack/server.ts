// The server under attack, as a process with a stated heap and a SQLite store. Beside the app it serves what it has used so
// far, on a port of its own: `/cpu`, `/memory` after a garbage collection, and `/peak` since `/rest`.

import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import process from "node:process";
import { setImmediate } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { fromJsonSchema, OAuthError, OAuthErrorCode } from "@modelcontextprotocol/server";
import { parley } from "mcp-parley";
import type { ParleyOptions } from "mcp-parley";
import { sqliteStore } from "mcp-parley/sqlite";
import { keys, quiet } from "../interop/errands.ts";

setFlagsFromString("--expose-gc");
const collectGarbage = (): void => void runInNewContext("gc()");

/**
 * Takes a turn of the event loop, as a verifier that asks another server does, so that a body begins to arrive
 * meanwhile.
 */
const verifyAccessToken = async (token: string) => {
  await setImmediate();
  if (token !== "ada" && token !== "eve") {
    throw new OAuthError(OAuthErrorCode.InvalidToken, "unknown");
  }
  return { token, clientId: "app", scopes: [], expiresAt: 4_000_000_000, extra: { sub: token } };
};

const auth = {
  auth: { verifier: { verifyAccessToken } },
  principal: ({ extra }: { readonly extra?: Readonly<Record<string, unknown>> }) =>
    String(extra?.["sub"]),
};

const { TARGET_AUTH, TARGET_ENTRY, TARGET_STORE = "", TARGET_LIMITS = "{}" } = process.env;
const info = {
  name: "target",
  version: "1.0.0",
  keys,
  logger: quiet,
  store: sqliteStore(TARGET_STORE),
  limits: JSON.parse(TARGET_LIMITS),
};
const options: ParleyOptions = TARGET_AUTH === "1" ? { ...info, ...auth } : info;
const app = parley(options);
const inputSchema = fromJsonSchema({ type: "object" });
app.tool("plain", { inputSchema }, () => "served");
app.resource("page", "page:{a}-{b}-{c}", {}, () => "read");
app.tool("ask", {}, async (ctx) => ((await ctx.confirm("sure", "Sure?")) ? "yes" : "no"));
app.tool("heavy", {}, async (ctx) => {
  // More than a token can hold, so it goes to the store.
  await ctx.step("weigh", () => "x".repeat(200_000));
  await ctx.confirm("first", "First?");
  return (await ctx.confirm("second", "Second?")) ? "yes" : "no";
});
app.tool("paid", { once: true }, async (ctx) => {
  const isSure = await ctx.confirm("sure", "Sure?");
  await ctx.step("pay", () => "x".repeat(1_000));
  return isSure ? "yes" : "no";
});
app.tool("long", { task: "required" }, async (ctx) => {
  await ctx.background();
  return (await ctx.confirm("sure", "Sure?")) ? "yes" : "no";
});
const { url } = await app.listen(0, { fast: TARGET_ENTRY === "fast" });

/** From Linux, in bytes. Elsewhere only the largest size so far is known. */
function sizeOf(name: "VmHWM" | "VmRSS"): number {
  if (process.platform !== "linux") return process.resourceUsage().maxRSS * 1_024;
  const status = readFileSync("/proc/self/status", "utf8");
  return Number(new RegExp(`${name}:\\s+(\\d+) kB`).exec(status)?.[1]) * 1_024;
}

const meters: Readonly<Record<string, () => number>> = {
  "/cpu": () => {
    const { user, system } = process.cpuUsage();
    return user + system;
  },
  "/memory": () => {
    collectGarbage();
    const { heapUsed, external } = process.memoryUsage();
    return heapUsed + external;
  },
  "/rest": () => {
    collectGarbage();
    // Linux forgets the largest size so far.
    if (process.platform === "linux") writeFileSync("/proc/self/clear_refs", "5");
    return sizeOf("VmRSS");
  },
  "/peak": () => sizeOf("VmHWM"),
};

const meter = createServer((req, res) => void res.end(String(meters[req.url ?? ""]?.())));
meter.listen(0, "127.0.0.1");
await once(meter, "listening");
// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it listens on a port
const { port } = meter.address() as AddressInfo;
process.stdout.write(`${JSON.stringify({ url, meter: `http://127.0.0.1:${port}` })}\n`);
