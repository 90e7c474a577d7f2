// A seam in the SDK: task subscriptions over HTTP. The SDK's event stream for `subscriptions/listen` knows no tasks, so it
// is read, passed through the subscription, and written again with the task notifications in it.

import { internalError } from "../../../protocol/error-codes.ts";
import {
  EventReader,
  eventStreamType,
  keepAliveEvent,
  keepAliveMs,
  messageEvent,
} from "../../../protocol/sse.ts";
import { errorText } from "../../../util/error-text.ts";
import type { Core } from "../../core.ts";
import { notDeclared } from "../../tasks/requests.ts";
import type { TransportMessage } from "../response-overrides.ts";
import { TaskSubscription } from "./subscriptions.ts";
import type { TaskListen } from "./subscriptions.ts";

/** The most streams at a time: the same limit as the SDK's. */
const mostStreams = 1_024;

/** The open streams, which end with the server. */
export class TaskStreams {
  readonly #core: Core;
  readonly #open = new Set<() => void>();

  constructor(core: Core) {
    this.#core = core;
  }

  /** Adds tasks to `served`, the SDK's response to the same request. A refusal by the SDK stays as it is. */
  async serve(
    listen: TaskListen,
    principal: string | undefined,
    served: Response,
    signal?: AbortSignal,
  ): Promise<Response> {
    const { headers, status, body } = served;
    const isStream = headers.get("content-type")?.startsWith(eventStreamType) === true;
    if (!isStream || body === null) return served;
    if (!listen.isDeclared) return refused(listen, body, notDeclared, 400);
    if (this.#open.size >= mostStreams) return refused(listen, body, tooManyStreams, 200);
    return new Response(await this.#joined(listen, principal, body, signal), { headers, status });
  }

  /** Ends every stream. */
  close(): void {
    for (const end of this.#open) end();
  }

  async #joined(
    listen: TaskListen,
    principal: string | undefined,
    served: ReadableStream<Uint8Array>,
    signal: AbortSignal | undefined,
  ): Promise<ReadableStream<Uint8Array>> {
    const encoder = new TextEncoder();
    let controller: ReadableStreamDefaultController<Uint8Array> | undefined;
    const write = (text: string) => controller?.enqueue(encoder.encode(text));
    const send = (message: TransportMessage) => write(messageEvent(JSON.stringify(message)));
    const { eventually } = this.#core.environment;
    let callOff: (() => void) | undefined;
    const keepAlive = () => {
      callOff = eventually(keepAliveMs, () => {
        write(keepAliveEvent);
        keepAlive();
      });
    };
    const endWith = (last: TransportMessage | undefined) => {
      // The request subscribed to more than tasks, and the SDK has not ended the rest yet.
      if (last === undefined) return;
      send(last);
      over();
    };
    const subscription = await TaskSubscription.open(this.#core, listen, principal, {
      send,
      end: endWith,
    });
    const reader = served.getReader();
    const stop = () => endWith(subscription.close());
    const over = () => {
      subscription.close();
      callOff?.();
      this.#open.delete(stop);
      signal?.removeEventListener("abort", over);
      controller?.close();
      controller = undefined;
      reader.cancel().catch(() => {});
    };
    return new ReadableStream({
      start: (opened) => {
        controller = opened;
        if (signal?.aborted === true) return over();
        signal?.addEventListener("abort", over);
        this.#open.add(stop);
        keepAlive();
        const sink = {
          message: (message: TransportMessage) => {
            const outgoing = subscription.outgoing(message);
            if (outgoing !== undefined) send(outgoing);
          },
          comment: write,
        };
        forward(reader, sink)
          .catch((error: unknown) =>
            this.#core.logger.warn(`A subscription broke off: ${errorText(error)}`),
          )
          .finally(() => {
            // If the SDK's last message is held back, the stream stays open until the tasks are over.
            if (!subscription.isHolding) over();
          });
      },
      cancel: () => {
        controller = undefined;
        over();
      },
    });
  }
}

type StreamRefusal = Pick<typeof notDeclared, "code" | "message" | "data">;

const tooManyStreams: StreamRefusal = {
  code: internalError,
  message: "Subscription limit reached",
};

async function refused(
  { id }: TaskListen,
  served: ReadableStream<Uint8Array>,
  { code, message, data }: StreamRefusal,
  status: number,
): Promise<Response> {
  await served.cancel();
  const error = { code, message, ...(data === undefined ? {} : { data }) };
  return Response.json({ jsonrpc: "2.0", id, error }, { status });
}

interface Sink {
  readonly message: (message: TransportMessage) => void;
  readonly comment: (text: string) => void;
}

/** Reads the SDK's stream. Resolves when it ends. */
async function forward(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  { message, comment }: Sink,
): Promise<void> {
  const decoder = new TextDecoder();
  const events = new EventReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    for (const { frame, data } of events.read(decoder.decode(value, { stream: true }))) {
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the SDK has written it
      if (data !== undefined) message(JSON.parse(data) as TransportMessage);
      else comment(`${frame}\n\n`);
    }
  }
}
