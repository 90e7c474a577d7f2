// Task subscriptions over HTTP: the SDK's event stream with ours in it.

import { internalError } from "../../../protocol/error-codes.ts";
import type { Core } from "../../core.ts";
import { textOf } from "../../round/failure.ts";
import { notDeclared } from "../../tasks/requests.ts";
import { TaskSubscription } from "./subscriptions.ts";
import type { Message, TaskListen } from "./subscriptions.ts";

const keepAliveMs = 15_000;
/** As many as the SDK has at most of its own. */
const mostStreams = 1_024;

/** The open ones, so that they end with the server. */
export class TaskStreams {
  readonly #core: Core;
  readonly #open = new Set<() => void>();

  constructor(core: Core) {
    this.#core = core;
  }

  /** `served` is the SDK's response to the same request: its refusals stand. `signal`: whoever asked has gone. */
  async serve(
    listen: TaskListen,
    principal: string | undefined,
    served: Response,
    signal?: AbortSignal,
  ): Promise<Response> {
    const { headers, status, body } = served;
    const isStream = headers.get("content-type")?.startsWith("text/event-stream") === true;
    if (!isStream || body === null) return served;
    if (!listen.isDeclared) return refused(listen, body, notDeclared, 400);
    if (this.#open.size >= mostStreams) return refused(listen, body, tooManyStreams, 200);
    return new Response(await this.#joined(listen, principal, body, signal), { headers, status });
  }

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
    const send = (message: Message) =>
      write(`event: message\ndata: ${JSON.stringify(message)}\n\n`);
    const { eventually } = this.#core.environment;
    let callOff: (() => void) | undefined;
    const keepAlive = () => {
      callOff = eventually(keepAliveMs, () => {
        write(": keepalive\n\n");
        keepAlive();
      });
    };
    const endWith = (last: Message | undefined) => {
      // None yet: the SDK's own end is still to come, because the request was for more than tasks.
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
          message: (message: Message) => {
            const outgoing = subscription.outgoing(message);
            if (outgoing !== undefined) send(outgoing);
          },
          comment: write,
        };
        forward(reader, sink)
          .catch((error: unknown) =>
            this.#core.logger.warn(`A subscription has broken off: ${textOf(error)}`),
          )
          .finally(() => {
            // With its last word held it goes on until the tasks are over; else there is nothing to wait for.
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

type Refusal = Pick<typeof notDeclared, "code" | "message" | "data">;

const tooManyStreams: Refusal = { code: internalError, message: "Subscription limit reached" };

async function refused(
  { id }: TaskListen,
  served: ReadableStream<Uint8Array>,
  { code, message, data }: Refusal,
  status: number,
): Promise<Response> {
  await served.cancel();
  const error = { code, message, ...(data === undefined ? {} : { data }) };
  return Response.json({ jsonrpc: "2.0", id, error }, { status });
}

interface Sink {
  readonly message: (message: Message) => void;
  readonly comment: (text: string) => void;
}

/** Resolves when the stream ends. */
async function forward(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  { message, comment }: Sink,
): Promise<void> {
  const decoder = new TextDecoder();
  let text = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    text += decoder.decode(value, { stream: true });
    const frames = text.split("\n\n");
    text = frames.pop() ?? "";
    for (const frame of frames) {
      const data = frame.split("\n").find((line) => line.startsWith("data: "));
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the SDK has written it
      if (data !== undefined) message(JSON.parse(data.slice(6)) as Message);
      else comment(`${frame}\n\n`);
    }
  }
}
