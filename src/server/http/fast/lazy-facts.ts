// The request as a handler sees it (`ctx.request`). Most handlers never look at it, so it is built on demand.

import {
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  LOG_LEVEL_META_KEY,
  PROTOCOL_VERSION_META_KEY,
} from "@modelcontextprotocol/server";
import type { AuthInfo, Implementation } from "@modelcontextprotocol/server";
import type { RequestFacts } from "../../context/context.ts";
import type { Envelope } from "./fast-message.ts";
import type { NodeRequest } from "../node.ts";

/** `ctx.request` of a round that came in through the fast entry. */
export class LazyFacts implements RequestFacts {
  readonly authInfo: AuthInfo | undefined;
  readonly #req: NodeRequest;
  readonly #envelope: Envelope;
  #headers: Headers | undefined;

  constructor(req: NodeRequest, envelope: Envelope, authInfo: AuthInfo | undefined) {
    this.#req = req;
    this.#envelope = envelope;
    this.authInfo = authInfo;
  }

  get clientInfo(): Implementation | undefined {
    return this.#envelope[CLIENT_INFO_META_KEY];
  }

  /** `_meta` without the members of the protocol itself. */
  get meta(): RequestFacts["meta"] {
    const {
      [PROTOCOL_VERSION_META_KEY]: _version,
      [CLIENT_CAPABILITIES_META_KEY]: _capabilities,
      [CLIENT_INFO_META_KEY]: _info,
      [LOG_LEVEL_META_KEY]: _level,
      ...rest
    } = this.#envelope;
    return rest;
  }

  get headers(): Headers {
    this.#headers ??= headersOf(this.#req);
    return this.#headers;
  }
}

function headersOf(req: NodeRequest): Headers {
  const headers = new Headers();
  for (const [name, value] of Object.entries(req.headers)) {
    // The pseudo-headers of HTTP/2, such as ":authority", are not valid names here.
    if (value === undefined || name.startsWith(":")) continue;
    for (const one of [value].flat()) headers.append(name, one);
  }
  return headers;
}
