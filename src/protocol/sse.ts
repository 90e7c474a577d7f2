// Server-sent events that carry JSON-RPC messages, written and read in one place.

/** The media type of such a stream. */
export const eventStreamType = "text/event-stream";

/** A comment. Sent now and then, it keeps proxies from closing a stream that is quiet. */
export const keepAliveEvent = ": keepalive\n\n";

/** How often to send `keepAliveEvent`, in milliseconds. */
export const keepAliveMs = 15_000;

/** One event with a message that is JSON text already. */
export const messageEvent = (json: string): string => `event: message\ndata: ${json}\n\n`;

/**
 * Reads a stream of events that the official SDK has written: lines end in "\n", and a message is one line of data. The
 * text may be cut anywhere. Pass the parts in the order they arrive.
 */
export class EventReader {
  #rest = "";

  /** The events that are complete now. */
  read(text: string): ReadEvent[] {
    const frames = (this.#rest + text).split("\n\n");
    this.#rest = frames.pop() ?? "";
    return frames.map((frame) => ({ frame, data: dataIn(frame) }));
  }
}

/** One event, as text and as what it carries. */
export interface ReadEvent {
  /** The whole event, without the empty line that ends it. */
  readonly frame: string;
  /** The text of its data. Undefined for a comment. */
  readonly data: string | undefined;
}

const dataPrefix = "data: ";

function dataIn(frame: string): string | undefined {
  const line = frame.split("\n").find((one) => one.startsWith(dataPrefix));
  return line?.slice(dataPrefix.length);
}
