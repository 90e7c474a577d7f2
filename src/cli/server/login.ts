// Signs in with OAuth, through the SDK. The address of the page is printed, the person opens it, and the code comes back
// to a port of this machine.

import { createServer } from "node:http";
import type { Server } from "node:http";
import { auth, UnauthorizedError } from "@modelcontextprotocol/client";
import type {
  FetchLike,
  OAuthClientInformationContext,
  OAuthClientProvider,
  OAuthDiscoveryState,
  StoredOAuthClientInformation,
  StoredOAuthTokens,
} from "@modelcontextprotocol/client";
import { CallError } from "../../client/index.ts";
import { UsageError } from "../command.ts";
import type { Io } from "../command.ts";
import type { Target } from "./target.ts";
import { plainLine } from "../screen/plain.ts";
import { connectTo } from "./connection.ts";
import type { ConnectedServer, ServerOptions } from "./connection.ts";
import { checkSafe, safeFetch } from "./safe-fetch.ts";
import { SignIns, signInsFile } from "./sign-ins.ts";
import { style } from "../screen/style.ts";
import type { Printer } from "../screen/printer.ts";

/** How long the person has to sign in. */
const patienceMs = 5 * 60_000;

/** Connects to a server, and signs in first if it asks for that. */
export async function signedIn(
  target: Target,
  options: ServerOptions,
  printer: Printer,
  env: Io["env"],
): Promise<ConnectedServer> {
  if (target.kind !== "url") throw new UsageError("--login needs a server with a URL.");
  const server = new URL(target.url);
  const kept = new SignIns(signInsFile(env), `${server.origin}${server.pathname}`);
  const door = await Door.open(kept.read().redirectUrl);
  try {
    const authProvider = new Provider(server, kept, door, printer);
    const fetchFn = authProvider.noting(safeFetch(server));
    const withAccess = { ...options, authProvider, fetch: fetchFn };
    try {
      return await connectTo(target, withAccess);
    } catch (error) {
      if (!(error instanceof UnauthorizedError)) throw authProvider.explained(error);
    }
    const { code: authorizationCode, iss } = await door.visitor(patienceMs);
    await auth(authProvider, {
      serverUrl: target.url,
      authorizationCode,
      fetchFn,
      ...(iss !== undefined && { iss }),
    });
    printer.line(style.green("You are signed in."));
    return await connectTo(target, withAccess);
  } finally {
    door.close();
  }
}

class Provider implements OAuthClientProvider {
  readonly #server: URL;
  readonly #kept: SignIns;
  readonly #door: Door;
  readonly #printer: Printer;
  #verifier = "";
  /** The origin that could not be reached last. */
  #unreachable: string | undefined;
  #discovery: OAuthDiscoveryState | undefined;

  constructor(server: URL, kept: SignIns, door: Door, printer: Printer) {
    this.#server = server;
    this.#kept = kept;
    this.#door = door;
    this.#printer = printer;
  }

  get redirectUrl(): string {
    return this.#door.url;
  }

  get clientMetadata() {
    return {
      client_name: "parley",
      redirect_uris: [this.#door.url],
      grant_types: ["authorization_code", "refresh_token"],
      response_types: ["code"],
      token_endpoint_auth_method: "none",
    };
  }

  readonly state = (): string => this.#door.state;

  /** A client that is registered for another port cannot be used here. */
  readonly clientInformation = (
    ctx?: OAuthClientInformationContext,
  ): StoredOAuthClientInformation | undefined => {
    const { clients, redirectUrl } = this.#kept.read();
    const isOurs = redirectUrl === this.#door.url && Object.hasOwn(clients, ctx?.issuer ?? "");
    return isOurs ? clients[ctx?.issuer ?? ""] : undefined;
  };

  readonly saveClientInformation = (
    information: StoredOAuthClientInformation,
    ctx?: OAuthClientInformationContext,
  ): void => {
    const clients = { [ctx?.issuer ?? ""]: information };
    this.#kept.write({ clients, redirectUrl: this.#door.url });
  };

  readonly tokens = (ctx?: OAuthClientInformationContext): StoredOAuthTokens | undefined => {
    const { tokens, latest = "" } = this.#kept.read();
    return tokens[ctx?.issuer ?? latest];
  };

  readonly saveTokens = (tokens: StoredOAuthTokens, ctx?: OAuthClientInformationContext): void => {
    const latest = ctx?.issuer ?? "";
    this.#kept.write({ tokens: { ...this.#kept.read().tokens, [latest]: tokens }, latest });
  };

  readonly saveCodeVerifier = (verifier: string): void => {
    this.#verifier = verifier;
  };

  readonly codeVerifier = (): string => this.#verifier;

  /** Kept, because the code must come from the authorization server that the person was sent to. */
  readonly saveDiscoveryState = (state: OAuthDiscoveryState): void => {
    this.#discovery = state;
  };

  readonly discoveryState = (): OAuthDiscoveryState | undefined => this.#discovery;

  /** Notes which address fails, because the SDK's error is the same for the server and for its authorization server. */
  noting(fetchFn: FetchLike): FetchLike {
    return async (url, init) => {
      this.#unreachable = new URL(url).origin;
      const response = await fetchFn(url, init);
      this.#unreachable = undefined;
      return response;
    };
  }

  /** The SDK tries addresses that it guesses if a server says nothing about OAuth, and its error names those. */
  explained(error: unknown): unknown {
    const isDown = error instanceof CallError && error.code === "server_down";
    if (isDown && ![undefined, this.#server.origin].includes(this.#unreachable)) {
      const [, why = "no response"] = /\((.*)\)/.exec(error.message) ?? [];
      return new CallError(
        "server_down",
        `The server sends you to ${plainLine(this.#unreachable ?? "")} to sign in, and that address cannot be reached (${why}). Check your network, or ask the operator of the server.`,
        { cause: error },
      );
    }
    const { resourceMetadata, authorizationServerMetadata } = this.#discovery ?? {};
    const isSilent = resourceMetadata === undefined && authorizationServerMetadata === undefined;
    if (this.#discovery === undefined || !isSilent) return error;
    return new CallError(
      "refused",
      `The server requires you to sign in, but ${this.#server.origin} does not offer OAuth metadata, so --login cannot find where to sign in. Ask the operator of the server for a token, and pass it with --token.`,
      { cause: error },
    );
  }

  readonly redirectToAuthorization = ({ href, host }: URL): void => {
    checkSafe(href, this.#server);
    this.#printer.line(`Sign in at ${style.bold(plainLine(host))}, in your browser:`);
    this.#printer.line(`  ${style.cyan(plainLine(href, 4_000))}`);
    this.#printer.line(
      style.dim("Open the page yourself. This command waits until you have signed in."),
    );
  };
}

interface Visitor {
  readonly code: string;
  readonly iss: string | undefined;
}

/** The port that the browser is redirected to. */
class Door {
  readonly state = crypto.randomUUID();
  readonly #server: Server;
  readonly #came: Promise<Visitor>;
  readonly url: string;

  private constructor(server: Server, port: number) {
    this.#server = server;
    this.url = `http://127.0.0.1:${port}/callback`;
    this.#came = new Promise((resolve, reject) => {
      server.on("request", ({ url = "/" }, response) => {
        // Any program can send anything here, even what is not a URL, such as "//".
        const asked = URL.canParse(url, this.url) ? new URL(url, this.url) : undefined;
        if (asked?.pathname !== "/callback") return response.writeHead(404).end();
        const { searchParams } = asked;
        // Any page can send a browser here. Only a sign-in that started here knows the state.
        if (searchParams.get("state") !== this.state)
          return response.writeHead(400).end("This sign-in was not started here.\n");
        const code = searchParams.get("code");
        const why = searchParams.get("error_description") ?? searchParams.get("error");
        response.setHeader("Content-Type", "text/plain; charset=utf-8");
        response.setHeader("Connection", "close");
        if (code === null) {
          reject(
            new CallError("refused", `The sign-in failed: ${plainLine(why ?? "no code was sent")}`),
          );
          return response.end("The sign-in failed. You can close this page.\n");
        }
        resolve({ code, iss: searchParams.get("iss") ?? undefined });
        return response.end("You are signed in. You can close this page.\n");
      });
    });
    this.#came.catch(() => {});
  }

  /** Uses the same port as last time if it is free, because some servers remember it. */
  static async open(before: string | undefined): Promise<Door> {
    const server = createServer();
    const port = URL.canParse(before ?? "") ? Number(new URL(before ?? "").port) : 0;
    return new Door(server, (await listening(server, port)) ?? (await listening(server, 0)) ?? 0);
  }

  async visitor(ms: number): Promise<Visitor> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      const error = new CallError("timed_out", "The sign-in was not completed in time.");
      timer = setTimeout(() => reject(error), ms);
    });
    try {
      return await Promise.race([this.#came, late]);
    } finally {
      clearTimeout(timer);
    }
  }

  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }
}

/** The port, or undefined if it is taken. */
function listening(server: Server, port: number): Promise<number | undefined> {
  return new Promise((resolve) => {
    server.once("error", () => resolve(undefined));
    server.listen(port, "127.0.0.1", () => {
      const address = server.address();
      resolve(typeof address === "object" && address !== null ? address.port : undefined);
    });
  });
}
