// The socket that a draft of the protocol plugs into. Server and client know a draft by this interface alone, so that
// nothing of a draft is loaded unless it is passed in as `drafts: drafts()`.

// Both sides have the same type of transport. The client package is optional, so it is not named here.
import type { Transport } from "@modelcontextprotocol/server";
import { isObject } from "../util/objects.ts";
import type { Members } from "../util/objects.ts";
import type { RpcResponse } from "./rpc.ts";

/** The drafts of the protocol to speak besides its releases. Made by `drafts()` from `mcp-parley/drafts`. */
export interface Drafts {
  /** The protocol version of the draft, such as `"2026-06-XX"`. */
  readonly "~drafts": string;
}

/** What the plug-in can do, behind its public type. */
export interface DraftDialect extends Drafts {
  /** Whether the peer agreed to the draft: by the version in `initialize`, or in the header of a later request. */
  readonly isRequest: (request: Request, body: unknown) => boolean;
  /** Serves one HTTP request of the draft. `serve` serves a 2026-07-28 request whose body has been read. */
  readonly serveHttp: (
    request: Request,
    body: unknown,
    serve: (request: Request, body: Members) => Promise<Response>,
    tasks: DraftTasks,
  ) => Promise<Response>;
  /** Wraps the transport of a single connection, such as stdio. */
  readonly wrapTransport: (transport: Transport, tasks: DraftTasks) => DraftConnection;
  /** Makes a client offer the draft in `initialize`. Call it before the client connects. */
  readonly offer: (transport: Transport) => DraftOffered;
  /** Sends the requests of one call in the form of the draft. `taskFor` gives the `task` parameter of `tools/call`. */
  readonly requests: <Options>(
    inner: RpcRequests<Options>,
    taskFor: () => Promise<object | undefined>,
  ) => RpcRequests<Options>;
}

/** A transport that speaks the draft once the client has opened with it. */
type DraftConnection = Transport & { readonly isDraft: boolean };

/** The client's offer, and whether the server took it. */
interface DraftOffered {
  readonly isTaken: boolean;
}

/** Sends requests and returns their outcomes. */
export interface RpcRequests<Options> {
  readonly request: (method: string, params: Members, options: Options) => Promise<RpcResponse>;
}

/** What the draft has to know about tasks that no 2026-07-28 response says. */
export interface DraftTasks {
  /** Whether a tool can run as a task: `"optional"`, `"required"`, or undefined if it cannot. */
  readonly support: (tool: string) => string | undefined;
  /** Yields at once, then at every change, until the task is over, the signal aborts or the server closes. */
  readonly changes: (
    taskId: string,
    signal: AbortSignal,
  ) => AsyncIterable<unknown> | Iterable<unknown>;
}

/** What to do, for every message about a missing plug-in. */
export const howToPlugIn = 'import { drafts } from "mcp-parley/drafts" and pass drafts: drafts().';

/** The dialect behind the `drafts` option. Refuses anything else, such as the `drafts: true` of earlier versions. */
export function dialectOf(drafts: Drafts | undefined): DraftDialect | undefined {
  if (drafts === undefined) return undefined;
  if (!isDialect(drafts)) throw new TypeError(`drafts is a plug-in: ${howToPlugIn}`);
  return drafts;
}

const isDialect = (value: unknown): value is DraftDialect =>
  isObject(value) && typeof value["~drafts"] === "string" && "serveHttp" in value;
