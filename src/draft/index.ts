// "mcp-parley/drafts": the plug-in that makes a server or a client speak the draft of the protocol.

import type { DraftDialect, Drafts } from "../protocol/drafts.ts";
import { draftVersion } from "../protocol/versions.ts";
import { DraftRequests } from "./client.ts";
import { isDraftRequest, serveDraftHttp } from "./http.ts";
import { DraftOffer } from "./offer.ts";
import { DraftTransport } from "./stdio.ts";

export type { Drafts } from "../protocol/drafts.ts";

const dialect: DraftDialect = {
  "~drafts": draftVersion,
  isRequest: isDraftRequest,
  serveHttp: serveDraftHttp,
  wrapTransport: (transport, tasks) => new DraftTransport(transport, tasks),
  offer: (transport) => new DraftOffer(transport),
  requests: (inner, taskFor) => new DraftRequests(inner, taskFor),
};

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
export function drafts(): Drafts {
  return dialect;
}
