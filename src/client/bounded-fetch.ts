// A fetch whose answers end: what is longer than allowed breaks off while it is read, not when memory is full.

import type { FetchLike } from "@modelcontextprotocol/client";

export interface Observer {
  /** An answer to the message with this id begins. */
  readonly responded: (id: string, isStream: boolean) => void;
  readonly tooLarge: (id: string) => void;
}

/** Of an answer as a whole, or of one event where it is a stream of them. */
export function boundedFetch(inner: FetchLike, mostBytes: number, observer: Observer): FetchLike {
  return async (url, init) => {
    const id = idOf(init?.body);
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
    return new Response(response.body.pipeThrough(limit), { status, statusText, headers });
  };
}

/** Ours are written with the id in front; of what the SDK sends, nobody has to be told. */
function idOf(body: unknown): string | undefined {
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
      // An event ends with an empty line. Two line ends in a row within a chunk will do: if they are split over two, the count goes on a little longer.
      const end = isStream ? lastEmptyLine(chunk) : -1;
      bytes = end === -1 ? bytes + chunk.byteLength : chunk.byteLength - end;
      if (bytes > mostBytes) {
        onTooLarge();
        controller.error(new Error(`An answer of more than ${mostBytes} bytes was broken off`));
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
