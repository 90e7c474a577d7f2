// How a client comes to speak the draft: it offers it in `initialize`, and speaks it if the server takes the offer. To
// the official client below, which does not know the draft, the server has agreed to what it had asked for itself.

import type { JSONRPCMessage, Transport } from "@modelcontextprotocol/client";
import { own } from "../util/objects.ts";
import { draftVersion } from "./wire.ts";

export class DraftOffer {
  #isTaken = false;

  /** Before the client connects. */
  constructor(transport: Transport) {
    const send = transport.send.bind(transport);
    const setProtocolVersion = transport.setProtocolVersion?.bind(transport);
    transport.send = (message, options) => {
      if (!("method" in message) || !("id" in message) || message.method !== "initialize") {
        return send(message, options);
      }
      this.#awaitAnswer(transport, message.id, own(message.params, "protocolVersion"));
      const params = { ...message.params, protocolVersion: draftVersion };
      return send({ ...message, params }, options);
    };
    if (setProtocolVersion !== undefined) {
      transport.setProtocolVersion = (version) =>
        setProtocolVersion(this.#isTaken ? draftVersion : version);
    }
  }

  get isTaken(): boolean {
    return this.#isTaken;
  }

  #awaitAnswer(transport: Transport, id: string | number, asked: unknown): void {
    const { onmessage } = transport;
    // oxlint-disable-next-line unicorn/prefer-add-event-listener -- a transport has no other
    transport.onmessage = (message, extra) => {
      const isAnswer = !("method" in message) && message.id === id;
      onmessage?.(isAnswer ? this.#read(message, asked) : message, extra);
    };
  }

  #read(message: JSONRPCMessage, asked: unknown): JSONRPCMessage {
    if (!("result" in message) || message.result["protocolVersion"] !== draftVersion)
      return message;
    this.#isTaken = true;
    return { ...message, result: { ...message.result, protocolVersion: asked } };
  }
}
