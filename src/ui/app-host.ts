// The App's connection to its host: JSON-RPC over `postMessage`, as the MCP Apps specification defines it. The official
// `App` class does the same, but weighs four times as much as the whole App may.

import type {
  AppNotification,
  AppRequest,
  McpUiInitializedNotification,
  McpUiInitializeRequest,
  McpUiSizeChangedNotification,
  McpUiUpdateModelContextRequest,
} from "@modelcontextprotocol/ext-apps";
import { isObject, own } from "../util/objects.ts";

/** The requests that the App sends. */
type Sent =
  | McpUiInitializeRequest
  | McpUiUpdateModelContextRequest
  | Extract<AppRequest, { method: "tools/call" }>;

interface Waiting {
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: Error) => void;
}

/** The host of an App. */
export class Host {
  readonly #window: Window;
  readonly #waiting = new Map<number, Waiting>();
  readonly #hear: (notification: AppNotification) => void;
  #requests = 0;

  constructor(window: Window, hear: (notification: AppNotification) => void) {
    this.#window = window;
    this.#hear = hear;
  }

  /** Introduces the App. The host sends nothing before. */
  async connect(): Promise<unknown> {
    this.#window.addEventListener("message", ({ source, data }: MessageEvent<unknown>) => {
      // Other windows may send messages, too.
      if (source === this.#window.parent && isObject(data) && data["jsonrpc"] === "2.0") {
        this.#receive(data);
      }
    });
    const result = await this.request({
      method: "ui/initialize",
      params: {
        appInfo: { name: "parley-form", version: "1.0.0" },
        appCapabilities: {},
        protocolVersion: "2026-01-26",
      },
    });
    this.notify({ method: "ui/notifications/initialized" });
    return result;
  }

  /** Rejects if the host answers with an error, or not within the time that it is given. */
  request(request: Sent, patienceMs?: number): Promise<unknown> {
    this.#requests += 1;
    const id = this.#requests;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      this.#post({ id, ...request });
      if (patienceMs === undefined) return;
      this.#window.setTimeout(() => {
        if (this.#waiting.delete(id)) reject(new Error("The host did not answer."));
      }, patienceMs);
    });
  }

  notify(notification: McpUiInitializedNotification | McpUiSizeChangedNotification): void {
    this.#post(notification);
  }

  #receive(message: Readonly<Record<string, unknown>>): void {
    const { id, method } = message;
    if (typeof method === "string") {
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what it does not know, it ignores
      if (id === undefined) this.#hear(message as unknown as AppNotification);
      else this.#respond(id, method);
      return;
    }
    if (typeof id !== "number") return;
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    const error = own(message, "error");
    if (error === undefined) waiting?.resolve(message["result"]);
    else waiting?.reject(new Error(String(own(error, "message"))));
  }

  /** Hosts ask whether the App is there, and announce that they are about to remove it. */
  #respond(id: unknown, method: string): void {
    const isKnown = method === "ping" || method === "ui/resource-teardown";
    const error = { code: -32_601, message: `Unknown method: ${method}` };
    this.#post({ id, ...(isKnown ? { result: {} } : { error }) });
  }

  #post(message: object): void {
    // The App does not know the origin of its host, and the host sees everything that the App does anyway.
    this.#window.parent.postMessage({ jsonrpc: "2.0", ...message }, "*");
  }
}
