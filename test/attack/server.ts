// The server under attack, as a process with a stated heap. Beside the app it serves what it has used so far, on a port of
// its own: `/cpu`, and `/memory` after a garbage collection.

import { createServer } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import process from "node:process";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { fromJsonSchema, OAuthError, OAuthErrorCode } from "@modelcontextprotocol/server";
import { memoryStore, parley } from "mcp-parley";
import type { ParleyOptions } from "mcp-parley";
import { keys, quiet } from "../interop/errands.ts";

setFlagsFromString("--expose-gc");
const collectGarbage = (): void => void runInNewContext("gc()");

const verifyAccessToken = async (token: string) => {
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

const info = { name: "target", version: "1.0.0", keys, logger: quiet, store: memoryStore() };
const options: ParleyOptions = process.env["TARGET_AUTH"] === "1" ? { ...info, ...auth } : info;
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
app.tool("long", { task: "required" }, async (ctx) => {
  await ctx.background();
  return (await ctx.confirm("sure", "Sure?")) ? "yes" : "no";
});
const { url } = await app.listen(0, { fast: process.env["TARGET_ENTRY"] === "fast" });

const meter = createServer((req, res) => {
  if (req.url === "/cpu") {
    const { user, system } = process.cpuUsage();
    return void res.end(String(user + system));
  }
  collectGarbage();
  const { heapUsed, external } = process.memoryUsage();
  return void res.end(String(heapUsed + external));
}).listen(0, "127.0.0.1");
await once(meter, "listening");
// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it listens on a port
const { port } = meter.address() as AddressInfo;
process.stdout.write(`${JSON.stringify({ url, meter: `http://127.0.0.1:${port}` })}\n`);
