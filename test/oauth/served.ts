// An app with a connection to a real authorization server, and people who use it. Everything but the authorization server
// is in this process: requests to `https://tools.example` reach the app without a port.

import { OAuthError, OAuthErrorCode } from "@modelcontextprotocol/server";
import { memoryStore, parley } from "mcp-parley";
import type { App, AuditRecord, AuthConfig, Logger, ParleyOptions, Provider } from "mcp-parley";
import { oauth } from "mcp-parley/oauth";
import { onTestFinished } from "vitest";
import { keys } from "../interop/errands.ts";
import { callTool } from "../wire/post.ts";
import type { Answer, Leg } from "../wire/post.ts";
import { own } from "../../src/util/objects.ts";
import { authorizationServer } from "./authorization-server.ts";
import type { AuthorizationServer, AuthorizationServerOptions } from "./authorization-server.ts";
import { Person } from "./person.ts";

export const site = "https://tools.example";
export const callback = `${site}/oauth/github/callback`;

/** The bearer token of a user is the name of the user. */
export const auth: AuthConfig = {
  verifier: {
    verifyAccessToken: async (token) => {
      if (!/^[a-z]+$/.test(token))
        throw new OAuthError(OAuthErrorCode.InvalidToken, "unknown token");
      return {
        token,
        clientId: "app",
        scopes: [],
        expiresAt: Date.now() / 1000 + 3_600,
        extra: { sub: token },
      };
    },
  },
};

export const principal = (info: { readonly extra?: Record<string, unknown> | undefined }): string =>
  String(info.extra?.["sub"]);

/** Visitors sign in to the site with a cookie that has their name. */
export const pages = {
  authorize: (request: Request) => {
    const user = /(?:^|; )user=(\w+)/.exec(request.headers.get("cookie") ?? "")?.[1];
    return user === undefined ? undefined : { principal: user };
  },
};

export interface Served {
  readonly app: App;
  readonly server: AuthorizationServer;
  readonly github: Provider;
  /** Everything that was logged, as one text. */
  readonly log: () => string;
  readonly audit: readonly AuditRecord[];
  /** A person who is signed in to the site. */
  readonly person: (name: string) => Person;
  /** One round of a call. */
  readonly call: (tool: string, user: string, leg?: Leg) => Promise<Answer>;
}

export type Tools = (app: App, github: Provider, api: string) => void;

export interface ServedOptions {
  readonly server?: Partial<AuthorizationServerOptions>;
  readonly app?: Partial<ParleyOptions>;
  /** Names the endpoints in place of the issuer, as for GitHub. */
  readonly hasMetadata?: boolean;
  readonly scope?: readonly string[];
  /** Further connections. */
  readonly more?: readonly Provider[];
}

/** Serves an app with these tools until the test is over. */
export async function served(
  tools: Tools,
  {
    server: serverOptions,
    app: own_ = {},
    hasMetadata = true,
    scope = ["repo"],
    more = [],
  }: ServedOptions = {},
): Promise<Served> {
  const server = await authorizationServer({ redirectUris: [callback], ...serverOptions });
  onTestFinished(() => server.close());
  const { issuer, clientId, clientSecret } = server;
  const client = { name: "github", title: "GitHub", clientId, clientSecret, scope };
  const endpoints = {
    authorizationEndpoint: `${issuer}/auth`,
    tokenEndpoint: `${issuer}/token`,
    revocationEndpoint: `${issuer}/token/revocation`,
  };
  const github = oauth(hasMetadata ? { ...client, issuer } : { ...client, ...endpoints });
  const lines: unknown[] = [];
  const note = (...line: readonly unknown[]) => void lines.push(line);
  const logger: Logger = { debug: note, info: note, warn: note, error: note };
  const audit: AuditRecord[] = [];
  const app = parley({
    keys,
    logger,
    store: memoryStore(),
    url: site,
    pages,
    connections: [github, ...more],
    audit: (record) => audit.push(record),
    ...own_,
    name: "stars",
    version: "1.0.0",
    auth,
    principal,
  });
  onTestFinished(() => app.close());
  tools(app, github, `${issuer}/api`);
  return {
    app,
    server,
    github,
    log: () => JSON.stringify(lines),
    audit,
    person: (name) => {
      const person = new Person(name, (request) =>
        request.url.startsWith(`${site}/`) ? app.pages(request) : undefined,
      );
      person.cookies.set("tools.example", new Map([["user", name]]));
      return person;
    },
    call: (tool, user, leg = {}) =>
      callTool(app, tool, {}, { ...leg, headers: { authorization: `Bearer ${user}` } }),
  };
}

/** The tool of most tests: it says who the caller is at the provider. */
export const whoAmI: Tools = (app, github, api) => {
  app.tool("who", {}, async (ctx) => {
    const account = await ctx.connect(github);
    return ctx.step("who", async () => login(api, await account.accessToken()));
  });
};

/** Who a token belongs to. */
export async function login(api: string, token: string): Promise<string> {
  const response = await fetch(`${api}/user`, { headers: { authorization: `Bearer ${token}` } });
  return response.ok ? String(own(await response.json(), "login")) : `HTTP ${response.status}`;
}

/** The start link in a response that asks. */
export function linkIn({ result, error }: Answer, key = "github"): string {
  const url = own(own(own(own(result, "inputRequests"), key), "params"), "url");
  if (typeof url !== "string")
    throw new Error(`It did not ask: ${JSON.stringify(result ?? error)}`);
  return url;
}

/** The next round of a call whose user says that the page is done. */
export const done = (asked: Answer, key = "github"): Leg => ({
  requestState: asked.result?.["requestState"],
  inputResponses: { [key]: { action: "accept" } },
});
