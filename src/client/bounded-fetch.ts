// A fetch that cuts off a response that is too large while it is being read, before it can fill the memory.

import type { FetchLike } from "@modelcontextprotocol/client";
import { namingRequest } from "./log-messages.ts";

/** Learns about the responses to the messages that a request channel sends. */
export interface ResponseObserver {
  /** The response to the message with this id has begun. */
  readonly responded: (id: string, isStream: boolean) => void;
  /** Whether the message with this id asked for log messages. */
  readonly wantsLog: (id: string) => boolean;
  /** The response to the message with this id was cut off. */
  readonly tooLarge: (id: string) => void;
}

/** `mostBytes` applies to a whole response, or to each event of a stream. */
export function boundedFetch(
  inner: FetchLike,
  mostBytes: number,
  observer: ResponseObserver,
): FetchLike {
  return async (url, init) => {
    const id = idIn(init?.body);
    const response = await inner(url, init);
    const isStream =
      response.headers
        .get("content-type")
        ?.trimStart()
        .toLowerCase()
        .startsWith("text/event-stream") ?? false;
    if (id !== undefined) observer.responded(id, isStream);
    if (response.body === null) return response;
    const { status, statusText, headers } = response;
    const limit = limited(mostBytes, isStream, () => {
      if (id !== undefined) observer.tooLarge(id);
    });
    const bounded = response.body.pipeThrough(limit);
    const isLogged = isStream && id !== undefined && observer.wantsLog(id);
    const body = isLogged ? bounded.pipeThrough(namingRequest(id)) : bounded;
    return new Response(body, { status, statusText, headers });
  };
}

/** A request channel writes the id first. The SDK's own messages are not observed. */
function idIn(body: unknown): string | undefined {
  return typeof body === "string"
    ? /^\{"jsonrpc":"2\.0","id":"([^"]{1,80})"/.exec(body)?.[1]
    : undefined;
}

function limited(
  mostBytes: number,
  isStream: boolean,
  onTooLarge: () => void,
): TransformStream<Uint8Array, Uint8Array> {
  let bytes = 0;
  return new TransformStream({
    transform: (chunk, controller) => {
      // An event ends with an empty line. If its two line ends are in different chunks, they are missed and the count
      // runs on until the next event ends.
      const end = isStream ? lastEmptyLine(chunk) : -1;
      bytes = end === -1 ? bytes + chunk.byteLength : chunk.byteLength - end;
      if (bytes > mostBytes) {
        onTooLarge();
        controller.error(new Error(`A response of more than ${mostBytes} bytes was cut off`));
      } else controller.enqueue(chunk);
    },
  });
}

const lineFeed = 10;
const carriageReturn = 13;

function lastEmptyLine(chunk: Uint8Array): number {
  for (let i = chunk.length - 1; i > 0; i -= 1) {
    if (chunk[i] !== lineFeed) continue;
    const before = chunk[i - 1] === carriageReturn ? i - 2 : i - 1;
    if (chunk[before] === lineFeed) return i + 1;
  }
  return -1;
}
