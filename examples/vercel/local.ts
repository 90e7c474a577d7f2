// Vercel on this machine, for trying the functions in `api`: npx tsx local.ts
//
// Each request gets an instance of its own, a thread, which is stopped when its response is sent and the promises that it
// passed to `waitUntil` have settled. `vercel.json` says which addresses lead to which function.

import { rmSync } from "node:fs";
import { mkdtemp, readFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { Worker } from "node:worker_threads";
import { build } from "esbuild";

/** What runs in a thread, in place of Vercel's runtime. */
const instance = `
  const { parentPort: host, workerData: { file, url, method, headers, body } } = require("node:worker_threads");
  const pending = [];
  const context = { waitUntil: (promise) => void pending.push(promise) };
  globalThis[Symbol.for("@vercel/request-context")] = { get: () => context };
  setInterval(() => {}, 60_000); // An instance does not end by itself.
  void (async () => {
    const response = await require(file).default.fetch(new Request(url, { method, headers, body }));
    host.postMessage({ status: response.status, headers: [...response.headers] });
    for await (const chunk of response.body ?? []) host.postMessage({ chunk });
    host.postMessage({ isSent: true });
    for (const work of pending) await work;
    host.postMessage({ isDone: true });
  })();
`;

interface Message {
  readonly status?: number;
  readonly headers?: [string, string][];
  readonly chunk?: Uint8Array;
  readonly isSent?: true;
  readonly isDone?: true;
}

export interface Deployment {
  /** The functions, bundled: one file for each file in `api`. */
  readonly functions: string;
  readonly rewrites: readonly { readonly source: string; readonly destination: string }[];
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** Bundles the functions of a folder. */
export async function deploy(folder: string, env: Deployment["env"]): Promise<Deployment> {
  const functions = await mkdtemp(join(tmpdir(), "vercel-"));
  await build({
    entryPoints: [join(folder, "api/*.ts")],
    bundle: true,
    platform: "node",
    outdir: functions,
    outExtension: { ".js": ".cjs" },
    external: ["esbuild"],
    logLevel: "error",
  });
  const { rewrites }: Pick<Deployment, "rewrites"> = JSON.parse(
    await readFile(join(folder, "vercel.json"), "utf8"),
  );
  return { functions, rewrites, env };
}

async function serve(deployment: Deployment, req: IncomingMessage, res: ServerResponse) {
  const { functions, rewrites, env } = deployment;
  const url = new URL(req.url ?? "/", `http://${req.headers.host}`);
  const rewrite = rewrites.find(({ source }) => source === url.pathname);
  const [, name] = /^\/api\/(\w+)$/.exec(rewrite?.destination ?? url.pathname) ?? [];
  if (name === undefined) return res.writeHead(404).end();
  const chunks: Buffer[] = [];
  for await (const chunk of req) chunks.push(Buffer.from(chunk));
  const workerData = {
    file: join(functions, `${name}.cjs`),
    url: url.href,
    method: req.method,
    headers: req.headers,
    body: chunks.length === 0 ? undefined : Buffer.concat(chunks),
  };
  const thread = new Worker(instance, { eval: true, env: { ...env }, workerData });
  res.on("close", () => {
    if (!res.writableEnded) void thread.terminate();
  });
  thread.on("message", ({ status, headers, chunk, isSent, isDone }: Message) => {
    if (status !== undefined) res.setHeaders(new Headers(headers)).writeHead(status);
    if (chunk !== undefined) res.write(chunk);
    if (isSent === true) res.end();
    if (isDone === true) void thread.terminate();
  });
  thread.on("error", (error) => {
    console.error(error);
    if (!res.headersSent) res.writeHead(500);
    res.end();
  });
}

/** A server for HTTP in front of the functions. */
export function platform(deployment: Deployment): Server {
  return createServer((req, res) => void serve(deployment, req, res));
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const deployment = await deploy(process.cwd(), process.env);
  process.on("exit", () => rmSync(deployment.functions, { recursive: true, force: true }));
  for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => process.exit());
  platform(deployment).listen(3000, "127.0.0.1", () => console.log("http://127.0.0.1:3000/mcp"));
  // Vercel does this once a minute. Here you do not have to wait for so long.
  const headers = { authorization: `Bearer ${process.env["CRON_SECRET"]}` };
  const cron = () => fetch("http://127.0.0.1:3000/api/cron", { headers });
  setInterval(() => void cron().catch(console.error), 10_000);
}
