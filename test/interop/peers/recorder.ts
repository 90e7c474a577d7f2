// Stands between a client and a server, passes everything on, and keeps it.

import { createServer } from "node:http";
import type { IncomingMessage, ServerResponse } from "node:http";
import {
  arrivedHeaders,
  bodyOf,
  broken,
  closed,
  headersOf,
  hopByHop,
  isStream,
  listening,
  messagesOf,
} from "./wire.ts";
import type { Passed } from "./transcript.ts";

export interface Recorder {
  readonly url: string;
  readonly passed: Passed[];
  readonly close: () => Promise<void>;
}

export async function record(server: string): Promise<Recorder> {
  const passed: Passed[] = [];
  let count = 0;

  const pass = async (request: IncomingMessage, response: ServerResponse) => {
    const number = (count += 1);
    const body = await bodyOf(request);
    const headers = arrivedHeaders(request);
    passed.push({
      request: number,
      http: request.method ?? "",
      headers: headersOf(headers),
      ...(body !== "" && { message: JSON.parse(body) }),
    });
    const leaving = new AbortController();
    response.once("close", () => leaving.abort());
    try {
      const answer = await fetch(server, {
        method: request.method ?? "GET",
        headers,
        signal: leaving.signal,
        ...(body !== "" && { body }),
      });
      const told = { response: number, status: answer.status, headers: headersOf(answer.headers) };
      const onward = Object.fromEntries(
        [...answer.headers].filter(([name]) => !hopByHop.includes(name)),
      );
      if (!isStream(answer.headers)) {
        const text = await answer.text();
        passed.push({ ...told, ...(text !== "" && { message: parsed(text) }) });
        response.writeHead(answer.status, onward).end(text);
        return;
      }
      passed.push(told);
      response.writeHead(answer.status, onward).flushHeaders();
      for await (const message of messagesOf(answer.body, (chunk) => void response.write(chunk))) {
        passed.push({ event: number, message });
      }
      passed.push({ end: number, by: "server" });
      response.end();
    } catch (error) {
      if (!leaving.signal.aborted) throw error;
      passed.push({ end: number, by: "client" });
    }
  };

  const proxy = createServer((request, response) => {
    pass(request, response).catch(broken(response));
  });
  const port = await listening(proxy);
  return {
    url: `http://127.0.0.1:${port}${new URL(server).pathname}`,
    passed,
    close: () => closed(proxy),
  };
}

/** A message, or what was sent instead of one. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
