// Knows how much of a response its client has not read. The official SDK puts every message into the body of a response at
// once, whether the client reads or not, so the body is counted on its way out.

import { mostUnread } from "../round/client-parts.ts";

/** The response to one request. */
export class UnreadBytes {
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  #waiting: (() => void)[] = [];

  /** What counts the response to this request, if something does. */
  static of(request: object | undefined): UnreadBytes | undefined {
    return request && counted.get(request);
  }

  /** Counts the response to this request. */
  count(request: Request): this {
    counted.set(request, this);
    return this;
  }

  /** The same response, counted if it is a stream. */
  in(response: Response): Response {
    const { body, status, headers } = response;
    if (body === null || this.#controller !== undefined) return response;
    const reader = body.getReader();
    const readable = new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          this.#controller = controller;
          void this.#pump(reader, controller);
        },
        pull: () => this.#letGo(),
        cancel: (reason) => {
          this.#controller = undefined;
          this.#letGo();
          return reader.cancel(reason);
        },
      },
      new ByteLengthQueuingStrategy({ highWaterMark: mostUnread }),
    );
    return new Response(readable, { status, headers });
  }

  /** Undefined if there is room. Otherwise it resolves when the client has read, or has gone. */
  room(): Promise<void> | undefined {
    if ((this.#controller?.desiredSize ?? 1) > 0) return undefined;
    return new Promise((resolve) => void this.#waiting.push(resolve));
  }

  async #pump(
    reader: ReadableStreamDefaultReader<Uint8Array>,
    controller: ReadableStreamDefaultController<Uint8Array>,
  ): Promise<void> {
    try {
      for (;;) {
        const { done, value } = await reader.read();
        if (this.#controller === undefined) return;
        if (done) break;
        controller.enqueue(value);
      }
      controller.close();
    } catch (error) {
      if (this.#controller !== undefined) controller.error(error);
    }
    this.#controller = undefined;
    this.#letGo();
  }

  #letGo(): void {
    for (const resolve of this.#waiting.splice(0)) resolve();
  }
}

/** The SDK hands the request on to the handler, and nothing else of ours. */
const counted = new WeakMap<object, UnreadBytes>();
