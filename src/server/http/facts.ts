// The request as a handler sees it (`ctx.request`). Most never look, so what it takes to show it is made on demand.

import {
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  LOG_LEVEL_META_KEY,
  PROTOCOL_VERSION_META_KEY,
} from "@modelcontextprotocol/server";
import type { AuthInfo, Implementation } from "@modelcontextprotocol/server";
import type { RequestFacts } from "../context/context.ts";
import type { NodeRequest } from "./listen.ts";
import type { Envelope } from "./message.ts";

export class Facts implements RequestFacts {
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

  /** Without what the protocol itself has in there. */
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
    // HTTP/2 has pseudo headers, too.
    if (value === undefined || name.startsWith(":")) continue;
    for (const one of [value].flat()) headers.append(name, one);
  }
  return headers;
}
