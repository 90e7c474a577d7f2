// AWS Lambda on this machine, for trying the bundled functions in `dist`: npx tsx local.ts [http]
//
// Each invocation gets an instance of its own, a thread, which is stopped as soon as the function has returned. HTTP requests
// become events as a function URL makes them.

import { createServer } from "node:http";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { Worker } from "node:worker_threads";
import type { HttpEvent, HttpHead, HttpResult } from "./http.ts";

export interface Deployment {
  /** The bundled code. */
  readonly file: string;
  /** Which of its functions serves HTTP. */
  readonly handler: "http" | "stream";
  readonly env: Readonly<Record<string, string | undefined>>;
  /** How long an invocation may take. */
  readonly timeoutMs: number;
}

/** What runs in a thread, in place of Lambda's runtime. */
const instance = `
  const { parentPort: host, workerData: { file, handler, event, endsAt } } = require("node:worker_threads");
  const { Writable } = require("node:stream");
  globalThis.awslambda = {
    streamifyResponse: (handle) => (event, context) => handle(event, new Writable({
      write(chunk, encoding, done) {
        // As on Lambda, the status and the headers go out with the first write.
        if (this.head !== undefined) host.postMessage({ head: this.head });
        this.head = undefined;
        host.postMessage({ chunk });
        done();
      },
      final(done) {
        host.postMessage({ isSent: true });
        done();
      },
    }), context),
    HttpResponseStream: { from: (stream, head) => Object.assign(stream, { head }) },
  };
  const context = { getRemainingTimeInMillis: () => endsAt - Date.now() };
  Promise.resolve(require(file)[handler](event, context))
    .then((result) => host.postMessage({ result, isDone: true }));
`;

interface Message {
  readonly head?: HttpHead;
  readonly chunk?: Uint8Array;
  readonly isSent?: true;
  readonly isDone?: true;
  readonly result?: unknown;
}

/** Calls a function in a new instance. Resolves when the function has returned and the instance is gone. */
export async function invoke(
  { file, env, timeoutMs }: Omit<Deployment, "handler">,
  handler: string,
  event: unknown,
  onMessage?: (message: Message) => void,
  signal?: AbortSignal,
): Promise<unknown> {
  const workerData = { file: resolve(file), handler, event, endsAt: Date.now() + timeoutMs };
  const thread = new Worker(instance, { eval: true, env: { ...env }, workerData });
  const timer = setTimeout(() => void thread.terminate(), timeoutMs);
  signal?.addEventListener("abort", () => void thread.terminate());
  try {
    return await new Promise((done, failed) => {
      thread.on("message", (message: Message) => {
        onMessage?.(message);
        if (message.isDone === true) done(message.result);
      });
      thread.on("error", failed);
      thread.on("exit", () => failed(new Error(`${handler} was stopped before it returned.`)));
    });
  } finally {
    clearTimeout(timer);
    await thread.terminate();
  }
}

/** What a function URL makes of a request. */
async function eventOf(req: IncomingMessage): Promise<HttpEvent> {
  const { cookie, ...others } = req.headers;
  const [rawPath = "/", rawQueryString = ""] = (req.url ?? "/").split("?", 2);
  const chunks: Buffer[] = [];
  for await (const chunk of req) chunks.push(Buffer.from(chunk));
  const body = Buffer.concat(chunks);
  const isText = /^(?:text\/|application\/json)/.test(req.headers["content-type"] ?? "");
  return {
    rawPath,
    rawQueryString,
    headers: Object.fromEntries(
      Object.entries(others).map(([name, value]) => [name, String(value)]),
    ),
    ...(cookie !== undefined && { cookies: cookie.split("; ") }),
    requestContext: {
      domainName: req.headers.host ?? "localhost",
      http: { method: req.method ?? "GET" },
    },
    ...(body.length > 0 && { body: body.toString(isText ? "utf8" : "base64") }),
    isBase64Encoded: body.length > 0 && !isText,
  };
}

async function answer(deployment: Deployment, req: IncomingMessage, res: ServerResponse) {
  const event = await eventOf(req);
  // Lambda would let the function go on. Here nobody is waiting for it.
  const leaving = new AbortController();
  res.on("close", () => res.writableEnded || leaving.abort());
  const writeHead = ({ statusCode, headers, cookies }: HttpHead) =>
    res.writeHead(statusCode, { ...headers, "set-cookie": [...cookies] });
  const onMessage = ({ head, chunk, isSent }: Message) => {
    if (head !== undefined) writeHead(head);
    if (chunk !== undefined) res.write(chunk);
    if (isSent === true) res.end();
  };
  const result = await invoke(deployment, deployment.handler, event, onMessage, leaving.signal);
  if (deployment.handler === "stream") return;
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what the function returns
  const { body, isBase64Encoded, ...head } = result as HttpResult;
  writeHead(head).end(Buffer.from(body, isBase64Encoded ? "base64" : "utf8"));
}

/** A server for HTTP in front of the function. */
export function functionUrl(deployment: Deployment): Server {
  return createServer((req, res) => {
    answer(deployment, req, res).catch((error: unknown) => {
      if (res.destroyed) return;
      console.error(error);
      if (!res.headersSent) res.writeHead(502);
      res.end();
    });
  });
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const worker = { file: "dist/function.cjs", env: process.env, timeoutMs: 60_000 };
  const http: Deployment =
    process.argv[2] === "http"
      ? { ...worker, handler: "http" }
      : { ...worker, file: "dist/stream.cjs", handler: "stream" };
  functionUrl(http).listen(3000, "127.0.0.1", () => console.log("http://127.0.0.1:3000/mcp"));
  // EventBridge does this once a minute. Here you do not have to wait for so long.
  const schedule = { source: "aws.events", "detail-type": "Scheduled Event" };
  setInterval(() => void invoke(worker, "worker", schedule).catch(console.error), 10_000);
}
