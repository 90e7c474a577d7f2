// A seam in the SDK: task subscriptions over HTTP. The SDK's event stream for `subscriptions/listen` does not carry
// tasks. So this file reads it, passes it through the subscription, and writes it again with the task notifications in
// it. Streams without tasks pass unchanged, and are counted.

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
import { Places } from "../../tasks/places.ts";
import { notDeclared } from "../../tasks/requests.ts";
import type { TransportMessage } from "../response-overrides.ts";
import { PacedStream } from "./paced-stream.ts";
import { isTaskListen, TaskSubscription } from "./subscriptions.ts";
import type { Listen, TaskListen } from "./subscriptions.ts";

/** A client that reads nothing for this long has gone, or does not want the stream. */
const stallMs = 60_000;

/** The open streams, which end with the server. */
export class TaskStreams {
  readonly #core: Core;
  readonly #places: Places;
  readonly #open = new Set<() => void>();

  constructor(core: Core) {
    this.#core = core;
    this.#places = subscriptionPlaces(core.limits.subscriptionsPerPrincipal);
  }

  /** Adds tasks to `served`, the SDK's response to the same request. A refusal by the SDK is not changed. */
  async serve(
    listen: Listen,
    principal: string | undefined,
    served: Response,
    signal?: AbortSignal,
  ): Promise<Response> {
    const { headers, status, body } = served;
    const isStream = headers.get("content-type")?.startsWith(eventStreamType) === true;
    if (!isStream || body === null) return served;
    if (isTaskListen(listen) && !listen.isDeclared) return refused(listen, body, notDeclared, 400);
    const place = this.#places.take(principal);
    if (typeof place === "string") {
      return refused(listen, body, { code: internalError, message: place }, 200);
    }
    const stream = isTaskListen(listen)
      ? await this.#joined(listen, principal, body, place, signal)
      : counted(body, place, signal);
    return new Response(stream, { headers, status });
  }

  /** Ends every stream. */
  close(): void {
    for (const end of this.#open) end();
  }

  async #joined(
    listen: TaskListen,
    principal: string | undefined,
    served: ReadableStream<Uint8Array>,
    leavePlace: () => void,
    signal: AbortSignal | undefined,
  ): Promise<ReadableStream<Uint8Array>> {
    const { eventually } = this.#core.environment;
    const reader = served.getReader();
    const paced = new PacedStream(eventually, stallMs, () => over());
    const send = (message: TransportMessage) => {
      paced.write(messageEvent(JSON.stringify(message)));
      return paced.room();
    };
    const endWith = (last: TransportMessage | undefined) => {
      // The request subscribed to more than tasks, and the SDK has not ended the rest yet.
      if (last === undefined) return;
      void send(last);
      over();
    };
    const outlet = { send, end: endWith };
    const subscription = await TaskSubscription.open(this.#core, listen, principal, outlet);
    let callOff: (() => void) | undefined;
    const keepAlive = () => {
      callOff = eventually(keepAliveMs, () => {
        if (paced.hasRoom) paced.write(keepAliveEvent);
        keepAlive();
      });
    };
    const stop = () => endWith(subscription.close());
    const over = () => {
      subscription.close();
      callOff?.();
      leavePlace();
      this.#open.delete(stop);
      signal?.removeEventListener("abort", over);
      paced.close();
      reader.cancel().catch(() => {});
    };
    if (signal?.aborted === true) {
      over();
      return paced.readable;
    }
    signal?.addEventListener("abort", over);
    this.#open.add(stop);
    keepAlive();
    const sink = {
      message: async (message: TransportMessage) => {
        const outgoing = subscription.outgoing(message);
        if (outgoing !== undefined) await send(outgoing);
      },
      comment: (text: string) => paced.write(text),
    };
    forward(reader, sink)
      .catch((error: unknown) =>
        this.#core.logger.warn(`A subscription broke off: ${errorText(error)}`),
      )
      .finally(() => {
        // If the SDK's last message is held back, the stream stays open until the tasks are over.
        if (!subscription.isHolding) over();
      });
    return paced.readable;
  }
}

/** The places for subscriptions. */
export const subscriptionPlaces = (mostOfOne: number): Places =>
  new Places(
    mostOfOne,
    (taken) =>
      `Subscription limit reached: this caller already has ${taken} open, the most it may have at a time. Close one, or poll the tasks with tasks/get.`,
    "Subscription limit reached",
  );

type StreamRefusal = Pick<typeof notDeclared, "code" | "message" | "data">;

async function refused(
  { id }: Listen,
  served: ReadableStream<Uint8Array>,
  { code, message, data }: StreamRefusal,
  status: number,
): Promise<Response> {
  await served.cancel();
  const error = { code, message, ...(data === undefined ? {} : { data }) };
  return Response.json({ jsonrpc: "2.0", id, error }, { status });
}

/** The same stream. It calls back when it is over, breaks off, or has lost its client. */
function counted(
  served: ReadableStream<Uint8Array>,
  over: () => void,
  signal: AbortSignal | undefined,
): ReadableStream<Uint8Array> {
  const reader = served.getReader();
  reader.closed.then(over, over);
  if (signal?.aborted === true) over();
  signal?.addEventListener("abort", over, { once: true });
  return new ReadableStream({
    pull: async (controller) => {
      const { done, value } = await reader.read();
      if (done) controller.close();
      else controller.enqueue(value);
    },
    cancel: (reason) => reader.cancel(reason),
  });
}

interface Sink {
  /** Resolves when there is room for the next message. */
  readonly message: (message: TransportMessage) => Promise<void>;
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
      if (data !== undefined) await message(JSON.parse(data) as TransportMessage);
      else comment(`${frame}\n\n`);
    }
  }
}
