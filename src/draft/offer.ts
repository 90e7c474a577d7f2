// How a client comes to speak the draft: it offers the draft in `initialize` and speaks it if the server accepts. The
// official client below does not know the draft. It sees a server that agreed to the version it asked for itself.

import type { JSONRPCMessage, Transport } from "@modelcontextprotocol/client";
import { draftVersion } from "../protocol/versions.ts";
import { own } from "../util/objects.ts";

/** Offers the draft on one transport. */
export class DraftOffer {
  #isTaken = false;

  /** Call this before the client connects, because it replaces the transport's `send`. */
  constructor(transport: Transport) {
    const send = transport.send.bind(transport);
    const setProtocolVersion = transport.setProtocolVersion?.bind(transport);
    transport.send = (message, options) => {
      if (!("method" in message) || !("id" in message) || message.method !== "initialize") {
        return send(message, options);
      }
      this.#awaitResponse(transport, message.id, own(message.params, "protocolVersion"));
      const params = { ...message.params, protocolVersion: draftVersion };
      return send({ ...message, params }, options);
    };
    if (setProtocolVersion !== undefined) {
      transport.setProtocolVersion = (version) =>
        setProtocolVersion(this.#isTaken ? draftVersion : version);
    }
  }

  /** Whether the server responded to `initialize` with the version of the draft. */
  get isTaken(): boolean {
    return this.#isTaken;
  }

  #awaitResponse(transport: Transport, id: string | number, asked: unknown): void {
    const { onmessage } = transport;
    // oxlint-disable-next-line unicorn/prefer-add-event-listener -- a transport has no addEventListener
    transport.onmessage = (message, extra) => {
      const isResponse = !("method" in message) && message.id === id;
      onmessage?.(isResponse ? this.#read(message, asked) : message, extra);
    };
  }

  #read(message: JSONRPCMessage, asked: unknown): JSONRPCMessage {
    if (!("result" in message) || message.result["protocolVersion"] !== draftVersion)
      return message;
    this.#isTaken = true;
    return { ...message, result: { ...message.result, protocolVersion: asked } };
  }
}
