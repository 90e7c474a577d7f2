// Reads a stream of events, message by message, as they arrive.

import { messagesIn } from "./post.ts";
import type { Incoming } from "./post.ts";

export interface Stream {
  /** The next message. Undefined when the stream has ended. */
  readonly next: () => Promise<Incoming | undefined>;
  /** All remaining messages. */
  readonly rest: () => Promise<Incoming[]>;
  /** Disconnects, like a client that needs nothing more. */
  readonly hangUp: () => Promise<void>;
}

export function streamOf(response: Response): Stream {
  if (response.body === null) throw new Error(`HTTP ${response.status} without a stream`);
  const reader = response.body.getReader();
  const messages = read(reader);
  const next = async () => {
    const { done, value } = await messages.next();
    return done === true ? undefined : value;
  };
  return {
    next,
    rest: async () => {
      const rest: Incoming[] = [];
      for (let one = await next(); one !== undefined; one = await next()) rest.push(one);
      return rest;
    },
    hangUp: () => reader.cancel(),
  };
}

async function* read(
  reader: ReadableStreamDefaultReader<Uint8Array>,
): AsyncGenerator<Incoming, void> {
  const decoder = new TextDecoder();
  let text = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    text += decoder.decode(value, { stream: true });
    const frames = text.split("\n\n");
    text = frames.pop() ?? "";
    for (const frame of frames) yield* messagesIn(frame);
  }
}
