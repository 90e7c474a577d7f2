// A client that speaks 2025-11-25, and has not asked the server for anything newer, never gets the tasks that
// `withTasks` follows. The official client does this by default, so `withTasks` warns about it.

import type { JSONRPCMessage, RequestId } from "@modelcontextprotocol/client";
import { methodNotFound } from "../../protocol/error-codes.ts";
import { isObject } from "../../util/objects.ts";
import { isRequest } from "./messages.ts";

const reason =
  "withTasks() has no effect on this client: it speaks 2025-11-25, the default of the official client, and the tasks that " +
  'withTasks() follows came with 2026-07-28. Pass versionNegotiation: { mode: "auto" } to new Client().';

/** How many calls without a response are remembered. */
const mostCalls = 1_000;

let isSaid = false;

/** Warns once in a process, through Node's warnings. */
function warnOnce(): void {
  if (isSaid) return;
  isSaid = true;
  process.emitWarning(reason, { code: "PARLEY_WITH_TASKS" });
}

export class LegacyByDefault {
  #hasNegotiated = false;
  #isLegacy = false;
  readonly #calls = new Set<RequestId>();

  /** Takes note of what the client sends. */
  sent(message: JSONRPCMessage): void {
    if (!isRequest(message)) return;
    const { method, id } = message;
    if (method === "server/discover") this.#hasNegotiated = true;
    if (method === "initialize" && !this.#hasNegotiated) {
      this.#isLegacy = true;
      warnOnce();
    }
    if (method !== "tools/call" || !this.#isLegacy) return;
    if (this.#calls.size >= mostCalls) this.#calls.clear();
    this.#calls.add(id);
  }

  /** Adds the reason to the error of a tool that runs only as a task. */
  received(message: JSONRPCMessage): JSONRPCMessage {
    if (!this.#isLegacy || !("id" in message) || message.id === undefined) return message;
    if (!this.#calls.delete(message.id) || !("error" in message)) return message;
    const { error } = message;
    if (!isObject(error) || error.code !== methodNotFound) return message;
    return { ...message, error: { ...error, message: `${error.message} (${reason})` } };
  }
}
