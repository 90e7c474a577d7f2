// The streaming extension on the wire: its names, the notification that carries a part, and the guard for incoming ones.
// Every name derives from the id, because a breaking change needs a new one.

import type { ContentBlock } from "@modelcontextprotocol/server";
import { isObject, own } from "../util/objects.ts";

/** The id of the extension, as client and server declare it. */
export const streamingExtension = "io.github.mcp-parley/streaming";

/** The notification that carries one part. */
export const partNotification: string = `notifications/${streamingExtension}/part`;

/** The request that reads the parts of a task. */
export const readStreamsMethod: "io.github.mcp-parley/streaming/read" = `${streamingExtension}/read`;

/** What a part does to its block. "reset": discard what you have of it. */
export type PartOp = "append" | "replace" | "reset";

/** What a part says, in a notification and in a response. */
export interface PartContent {
  /** The key of the `ctx.stream` or `ctx.emit` that made it. */
  readonly block: string;
  /** Default: "append". */
  readonly op?: PartOp | undefined;
  /** Left out for a reset. */
  readonly content?: readonly ContentBlock[] | undefined;
}

/** The params of the notification. */
export interface PartParams extends PartContent {
  /** The token of the request whose stream this is. */
  readonly token: string;
}

/** The token that a request names its stream with. If undefined, no parts are sent. */
export function streamTokenIn(meta: unknown): string | undefined {
  if (typeof meta !== "object" || meta === null || !(streamingExtension in meta)) return undefined;
  const wanted: unknown = meta[streamingExtension];
  if (typeof wanted !== "object" || wanted === null || !("token" in wanted)) return undefined;
  const { token } = wanted;
  return typeof token === "string" && token !== "" && token.length <= longestToken
    ? token
    : undefined;
}

/**
 * The token of a request of the draft, which asks for parts with `stream: {}`, in its params or beside them. It is the id
 * of the request. Undefined if it does not ask.
 */
export function draftStreamTokenIn(message: unknown): string | undefined {
  const params = own(message, "params");
  const isWanted = isObject(own(params, "stream") ?? own(message, "stream"));
  return isWanted ? String(own(message, "id")).slice(0, longestToken) : undefined;
}

// The client chooses the token, and every part repeats it.
const longestToken = 256;
