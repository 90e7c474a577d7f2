// Signing in through the server's OAuth, which the SDK speaks: the page is shown and opened by the person, and what it
// gives comes back to a port of this machine.

import { createServer } from "node:http";
import type { Server } from "node:http";
import process from "node:process";
import { auth, UnauthorizedError } from "@modelcontextprotocol/client";
import type {
  OAuthClientInformationContext,
  OAuthClientProvider,
  OAuthDiscoveryState,
  StoredOAuthClientInformation,
  StoredOAuthTokens,
} from "@modelcontextprotocol/client";
import { CallError } from "../../client/index.ts";
import { Usage } from "../command.ts";
import type { Place } from "./place.ts";
import { plainLine } from "../screen/plain.ts";
import { reach } from "./reach.ts";
import type { Reached, ReachOptions } from "./reach.ts";
import { checkSafe, safeFetch } from "./safe-fetch.ts";
import { SignIns, signInsFile } from "./sign-ins.ts";
import { style } from "../screen/style.ts";
import type { Talk } from "../screen/talk.ts";

/** To sign in and come back. */
const patienceMs = 5 * 60_000;

export async function signedIn(place: Place, options: ReachOptions, talk: Talk): Promise<Reached> {
  if (place.kind !== "url") throw new Usage("--login is for a server with a URL.");
  const server = new URL(place.url);
  const kept = new SignIns(signInsFile(process.env), `${server.origin}${server.pathname}`);
  const door = await Door.open(kept.read().redirectUrl);
  try {
    const authProvider = new Provider(server, kept, door, talk);
    const fetchFn = safeFetch(server);
    const withAccess = { ...options, authProvider, fetch: fetchFn };
    try {
      return await reach(place, withAccess);
    } catch (error) {
      if (!(error instanceof UnauthorizedError)) throw error;
    }
    const { code: authorizationCode, iss } = await door.visitor(patienceMs);
    await auth(authProvider, {
      serverUrl: place.url,
      authorizationCode,
      fetchFn,
      ...(iss !== undefined && { iss }),
    });
    talk.line(style.green("You are signed in."));
    return await reach(place, withAccess);
  } finally {
    door.close();
  }
}

class Provider implements OAuthClientProvider {
  readonly #server: URL;
  readonly #kept: SignIns;
  readonly #door: Door;
  readonly #talk: Talk;
  #verifier = "";
  #discovery: OAuthDiscoveryState | undefined;

  constructor(server: URL, kept: SignIns, door: Door, talk: Talk) {
    this.#server = server;
    this.#kept = kept;
    this.#door = door;
    this.#talk = talk;
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

  /** Registered for another port, it is of no use here. */
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

  /** What comes back from the page has to be from the server that the person was sent to. */
  readonly saveDiscoveryState = (state: OAuthDiscoveryState): void => {
    this.#discovery = state;
  };

  readonly discoveryState = (): OAuthDiscoveryState | undefined => this.#discovery;

  readonly redirectToAuthorization = ({ href, host }: URL): void => {
    checkSafe(href, this.#server);
    this.#talk.line(`Sign in at ${style.bold(plainLine(host))}, in your browser:`);
    this.#talk.line(`  ${style.cyan(plainLine(href, 4_000))}`);
    this.#talk.line(style.dim("Nothing is opened from here. This waits until you are back."));
  };
}

interface Visitor {
  readonly code: string;
  readonly iss: string | undefined;
}

/** Where the person comes back to. */
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
        const { pathname, searchParams } = new URL(url, this.url);
        if (pathname !== "/callback") return response.writeHead(404).end();
        // Anybody can send a browser here; only who was sent out from here knows this.
        if (searchParams.get("state") !== this.state)
          return response.writeHead(400).end("Not from here.\n");
        const code = searchParams.get("code");
        const why = searchParams.get("error_description") ?? searchParams.get("error");
        response.setHeader("Content-Type", "text/plain; charset=utf-8");
        response.setHeader("Connection", "close");
        if (code === null) {
          reject(
            new CallError("refused", `You were not signed in: ${plainLine(why ?? "no code came")}`),
          );
          return response.end("You were not signed in. You can close this page.\n");
        }
        resolve({ code, iss: searchParams.get("iss") ?? undefined });
        return response.end("You are signed in, and can close this page.\n");
      });
    });
    this.#came.catch(() => {});
  }

  /** Where it was the last time, if that is free: some servers know it by its port. */
  static async open(before: string | undefined): Promise<Door> {
    const server = createServer();
    const port = before === undefined ? 0 : Number(new URL(before).port);
    return new Door(server, (await listening(server, port)) ?? (await listening(server, 0)) ?? 0);
  }

  async visitor(ms: number): Promise<Visitor> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      const error = new CallError("timed_out", "Nobody came back from the sign-in page.");
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

/** The port; undefined where it is taken. */
function listening(server: Server, port: number): Promise<number | undefined> {
  return new Promise((resolve) => {
    server.once("error", () => resolve(undefined));
    server.listen(port, "127.0.0.1", () => {
      const address = server.address();
      resolve(typeof address === "object" && address !== null ? address.port : undefined);
    });
  });
}
