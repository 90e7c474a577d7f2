// "mcp-parley/drafts": the plug-in that makes a server or a client speak the draft of the protocol.

import type { DraftDialect, Drafts } from "../protocol/draft-plug-in.ts";
import { draftVersion } from "../protocol/versions.ts";
import { DraftRequests } from "./client.ts";
import { isDraftRequest, serveDraftHttp } from "./http.ts";
import { DraftOffer } from "./offer.ts";
import type { Deferred } from "./server.ts";
import { DraftTransport } from "./stdio.ts";

export type { Drafts } from "../protocol/draft-plug-in.ts";

/** Options of `drafts`. */
export interface DraftOptions {
  /**
   * For a server: the names of the tools that create a requested task later, when they call `ctx.background()`. Before
   * that they may ask in rounds, or return an ordinary result. Default: none, so a call that requests a task is a task
   * from the start.
   */
  readonly deferTasks?: readonly string[] | undefined;
}

const dialectWith = (deferred: Deferred): DraftDialect => ({
  "~drafts": draftVersion,
  isRequest: isDraftRequest,
  serveHttp: (request, body, serve, tasks) => serveDraftHttp(request, body, serve, tasks, deferred),
  wrapTransport: (transport, tasks) => new DraftTransport(transport, tasks, deferred),
  offer: (transport) => new DraftOffer(transport),
  requests: (inner, taskFor) => new DraftRequests(inner, taskFor),
});

/**
 * The draft of multi round-trip requests that came before 2026-07-28, protocol version `2026-06-XX`. Pass it to
 * `parley` or `connect` to speak the draft with peers that agree to it. Everything else stays the same.
 *
 * @example
 * ```ts
 * import { parley } from "mcp-parley";
 * import { drafts } from "mcp-parley/drafts";
 *
 * const app = parley({ name: "tracker", version: "1.0.0", drafts: drafts() });
 * ```
 */
export function drafts({ deferTasks = [] }: DraftOptions = {}): Drafts {
  return dialectWith(new Set(deferTasks));
}
