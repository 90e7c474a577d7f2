// The parts of streams on their way to the client of one request. A client that does not read makes the body wait, and
// after a while it gets no more parts, so that it can neither fill the memory nor hold up the call.

import type { ClientCapabilities } from "@modelcontextprotocol/server";
import { abilitiesOf } from "../../protocol/capabilities.ts";
import { streamingExtension, streamTokenIn } from "../../protocol/streaming.ts";
import type { PartContent, PartParams } from "../../protocol/streaming.ts";
import type { PartSink } from "../context/part-sink.ts";
import type { Core } from "../core.ts";

/** What a client may leave unread, in bytes, before the body waits. */
export const mostUnread: number = 256 * 1024;

/** Carries parts to one client. */
export interface PartChannel {
  /** Sends a part. The promise, if there is one, resolves when the client has room for more, or has gone. It never rejects. */
  readonly send: (params: PartParams) => Promise<unknown> | undefined;
  /** How much may be sent, in bytes, on a channel that does not show how much is unread. Undefined for any other. */
  readonly mostBytes?: number | undefined;
}

/** The token that this client's parts carry. Undefined if it has not declared the extension, or names no stream. */
export function wantedStream(meta: unknown, capabilities: ClientCapabilities): string | undefined {
  const token = streamTokenIn(meta);
  if (token === undefined) return undefined;
  return abilitiesOf(capabilities).includes(streamingExtension) ? token : undefined;
}

/** Sends the parts of one request's rounds. */
export class ClientParts implements PartSink {
  readonly #token: string;
  readonly #channel: PartChannel;
  readonly #core: Pick<Core, "environment" | "limits">;
  /** The blocks that the client has a part of. Once parts have stopped, those that it still has to be told about. */
  readonly #shown = new Set<string>();
  #bytes = 0;
  #hasStopped = false;

  constructor(token: string, channel: PartChannel, core: Pick<Core, "environment" | "limits">) {
    this.#token = token;
    this.#channel = channel;
    this.#core = core;
  }

  send(part: PartContent): Promise<void> | undefined {
    if (this.#hasStopped || this.#isTooMuch(part)) return this.#takeBack(part);
    if (part.op === "reset") this.#shown.delete(part.block);
    else this.#shown.add(part.block);
    const room = this.#channel.send({ token: this.#token, ...part });
    return room && this.#untilRoom(room);
  }

  #isTooMuch(part: PartContent): boolean {
    const { mostBytes } = this.#channel;
    if (mostBytes === undefined) return false;
    this.#bytes += JSON.stringify(part).length;
    this.#hasStopped = this.#bytes > mostBytes;
    return this.#hasStopped;
  }

  /** A block that goes on without its client is taken back, so that the client never mistakes a fragment for the whole. */
  #takeBack({ block }: PartContent): undefined {
    if (!this.#shown.delete(block)) return;
    void this.#channel.send({ token: this.#token, block, op: "reset" });
  }

  #untilRoom(room: Promise<unknown>): Promise<void> {
    const { environment, limits } = this.#core;
    return new Promise((resolve) => {
      const callOff = environment.eventually(limits.streamStallMs, () => {
        this.#hasStopped = true;
        resolve();
      });
      void room.then(() => {
        callOff();
        resolve();
      });
    });
  }
}
