// Where the server is, and how to get there.

import { StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import type {
  AuthProvider,
  FetchLike,
  OAuthClientProvider,
  Transport,
} from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { boundedFetch } from "./bounded-fetch.ts";
import type { Observer } from "./bounded-fetch.ts";

/** A server to be started, and spoken to over its standard input and output. */
export interface Command {
  readonly command: string;
  readonly args?: readonly string[] | undefined;
  readonly env?: Readonly<Record<string, string>> | undefined;
  readonly cwd?: string | undefined;
}

/** An app of this library, in this process. */
export interface Served {
  readonly fetch: (request: Request) => Promise<Response>;
}

export type Target = string | URL | Command | Transport | Served;

export interface Access {
  readonly headers?: ConstructorParameters<typeof Headers>[0];
  readonly authProvider?: AuthProvider | OAuthClientProvider | undefined;
  readonly fetch?: FetchLike | undefined;
}

export interface Place {
  readonly transport: Transport;
  /** Names it in references. Nothing secret: no query, no credentials, no environment. */
  readonly name: string | undefined;
}

export function placeOf(
  target: Target,
  access: Access,
  messageBytes: number,
  observer: Observer,
): Place {
  const http = (url: URL, fetch: FetchLike): Transport =>
    new StreamableHTTPClientTransport(url, {
      fetch: boundedFetch(fetch, messageBytes, observer),
      ...(access.headers && { requestInit: { headers: access.headers } }),
      ...(access.authProvider && { authProvider: access.authProvider }),
    });
  if (typeof target === "string" || target instanceof URL) {
    const url = new URL(target);
    const name = `${url.origin}${url.pathname}`;
    return { transport: http(url, access.fetch ?? fetch), name };
  }
  if ("command" in target) {
    const { command, args = [], env, cwd } = target;
    const transport = new StdioClientTransport({
      command,
      args: [...args],
      ...(env && { env: { ...env } }),
      ...(cwd !== undefined && { cwd }),
      maxBufferSize: messageBytes,
    });
    return { transport, name: `stdio ${[command, ...args].join(" ")}` };
  }
  if ("send" in target) return { transport: target, name: undefined };
  const inside: FetchLike = (url, init) => target.fetch(new Request(url, init));
  return { transport: http(new URL("http://localhost/mcp"), inside), name: undefined };
}
