// The same function for a URL that streams. Lambda sends the response while it is made, and runs the function to its end
// after that, so the tasks that a request has created or answered run in the same invocation.

import { Readable } from "node:stream";
import type { Writable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { app } from "./app.ts";
import { headOf, inTime, requestOf } from "./http.ts";
import type { Context, HttpEvent, HttpHead } from "./http.ts";

/** What Lambda's runtime for Node provides. */
declare const awslambda: {
  streamifyResponse: (
    handle: (event: HttpEvent, out: Writable, context: Context) => Promise<void>,
  ) => unknown;
  HttpResponseStream: { from: (out: Writable, head: HttpHead) => Writable };
};

async function respond(event: HttpEvent, out: Writable, signal: AbortSignal): Promise<void> {
  const pending: Promise<unknown>[] = [];
  const waitUntil = (work: Promise<unknown>) => pending.push(work);
  const response = event.rawPath.endsWith("/mcp")
    ? await app.fetch(requestOf(event, signal), { waitUntil })
    : new Response("Not found", { status: 404 });
  const body = awslambda.HttpResponseStream.from(out, headOf(response));
  body.write(""); // Lambda sends the status and the headers with the first write, and some responses have no body.
  await pipeline(response.body ?? Readable.from([]), body);
  for (const work of pending) await work; // The client has its response already.
}

export const stream = awslambda.streamifyResponse((event, out, context) =>
  inTime(context, (signal) => respond(event, out, signal)),
);
