// The server to connect to, and the transport that reaches it.

import { StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import type {
  AuthProvider,
  FetchLike,
  OAuthClientProvider,
  Transport,
} from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { boundedFetch } from "./bounded-fetch.ts";
import type { ResponseObserver } from "./bounded-fetch.ts";

/** A server that is started as a process and reached over its standard input and output. */
export interface ServerCommand {
  /** The program to run, for example "node". */
  readonly command: string;
  /** The arguments of the program. Default: none. */
  readonly args?: readonly string[] | undefined;
  /** The environment of the program. Default: a few safe variables of this process, such as PATH and HOME. */
  readonly env?: Readonly<Record<string, string>> | undefined;
  /** The working directory of the program. Default: that of this process. */
  readonly cwd?: string | undefined;
}

/** An app in this process, such as `parley()` returns. It is reached without a network. */
export interface ServedApp {
  /** Serves one HTTP request. */
  readonly fetch: (request: Request) => Promise<Response>;
}

/** What `connect` can reach: a URL, a command to start, a transport of the official SDK, or an app in this process. */
export type ConnectTarget = string | URL | ServerCommand | Transport | ServedApp;

/** How a server is reached over HTTP. */
export interface HttpAccess {
  /** Headers to send with every request, for example `Authorization`. Default: none. */
  readonly headers?: ConstructorParameters<typeof Headers>[0];
  /** Signs in to the server, as in the official SDK. Default: no sign-in. */
  readonly authProvider?: AuthProvider | OAuthClientProvider | undefined;
  /** Replaces the global `fetch`, for example to add a proxy. An app in this process does not use it. */
  readonly fetch?: FetchLike | undefined;
}

export interface Endpoint {
  readonly transport: Transport;
  /** Names the server in references. It has no query, no credentials and no environment, which may be secret. */
  readonly name: string | undefined;
}

export function endpointOf(
  target: ConnectTarget,
  access: HttpAccess,
  messageBytes: number,
  observer: ResponseObserver,
): Endpoint {
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
