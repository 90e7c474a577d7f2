// A hand-written server that streams, and a reader that holds what a person would see.

import type { ServerResponse } from "node:http";
import { partNotification, streamingExtension, streamTokenIn } from "../protocol/streaming.ts";
import { hostile } from "./hostile.fixture.ts";
import type { Hostile, Saying } from "./hostile.fixture.ts";
import type { Part } from "./index.ts";

type Message = Parameters<Saying>[0];

/** One response as a stream of events. */
export class Streamed {
  readonly token: string | undefined;
  readonly #message: Message;
  readonly #response: ServerResponse;

  constructor(message: Message, response: ServerResponse) {
    this.#message = message;
    this.#response = response;
    this.token = streamTokenIn(message.params["_meta"]);
    response.writeHead(200, { "content-type": "text/event-stream" });
  }

  /** Sends text of a block. */
  text(block: string, text: string): this {
    return this.part({ block, content: [{ type: "text", text }] });
  }

  /** Sends a part with any members. */
  part(params: object): this {
    return this.#send({ method: partNotification, params: { token: this.token, ...params } });
  }

  /** Sends a part whose members are this text, which is not closed. */
  raw(params: string): this {
    const token = JSON.stringify(this.token);
    const head = `{"jsonrpc":"2.0","method":"${partNotification}","params":`;
    this.#response.write(`data: ${head}${params},"token":${token}}}\n\n`);
    return this;
  }

  /** Sends the result, and leaves the stream open. */
  send(result: object): this {
    return this.#send({ id: this.#message.id, result });
  }

  /** Ends with a result. */
  end(result: object): undefined {
    return this.send(result).close();
  }

  close(): undefined {
    this.#response.end();
    return undefined;
  }

  /** Ends with a JSON-RPC error. */
  refuse(error: object): undefined {
    this.#send({ id: this.#message.id, error });
    this.#response.end();
    return undefined;
  }

  /** Breaks the connection off, when what was sent is on its way. */
  break(): undefined {
    this.#response.write("\n", () => this.#response.destroy());
    return undefined;
  }

  #send(message: object): this {
    this.#response.write(`data: ${JSON.stringify({ jsonrpc: "2.0", ...message })}\n\n`);
    return this;
  }
}

/** A server that declares streaming. */
export const streamingServer = (say: Saying): Promise<Hostile> =>
  hostile(say, undefined, { [streamingExtension]: {} });

export const done = (text: string) => ({
  resultType: "complete",
  content: [{ type: "text", text }],
});

/** What a reader holds after it has followed every part. */
export class Reader {
  readonly held = new Map<string, string>();

  take({ block, op, text }: Part): void {
    if (op === "reset") this.held.delete(block);
    else this.held.set(block, op === "replace" ? text : (this.held.get(block) ?? "") + text);
  }
}
