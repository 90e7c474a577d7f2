// A real authorization server on the loopback address, which also plays GitHub's API.

import { once } from "node:events";
import { createServer } from "node:http";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { Provider } from "oidc-provider";
import { clientId, clientSecret } from "./client.ts";

export interface AuthorizationServerOptions {
  /** Where the server sends people back to. */
  readonly redirectUris: readonly string[];
  /** How long the access token of a sign-in can be used, in seconds. A renewed one lasts an hour. Default: an hour. */
  readonly tokenSeconds?: number;
  /** Whether each renewal gives a new refresh token. Default: false. */
  readonly rotates?: boolean;
  /** Whether PKCE is required. Default: true. */
  readonly requiresPkce?: boolean;
}

export interface AuthorizationServer {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string;
  /** The grants that the token endpoint was asked for, in order. */
  readonly grants: string[];
  /** The parameters of every request to the authorization endpoint. */
  readonly authorizations: URLSearchParams[];
  /** Called before each request to the token endpoint. It may hold up the request. */
  onToken: () => Promise<void> | void;
  /** Called for each request to the gate, which is answered when the promise resolves. */
  onGate: (who: string) => Promise<void> | void;
  /** Answers in place of the token endpoint. */
  instead: ((req: IncomingMessage, res: ServerResponse) => void) | undefined;
  /** The repositories that were starred, each as "user: repository". */
  readonly stars: string[];
  readonly close: () => Promise<void>;
}

/** Starts the server. Everyone signs in by name, without a password. */
export async function authorizationServer({
  redirectUris,
  tokenSeconds = 3_600,
  rotates = false,
  requiresPkce = true,
}: AuthorizationServerOptions): Promise<AuthorizationServer> {
  const http = createServer();
  http.listen(0, "127.0.0.1");
  await once(http, "listening");
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it listens on a port
  const issuer = `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
  const provider = new Provider(issuer, {
    clients: [
      {
        client_id: clientId,
        client_secret: clientSecret,
        redirect_uris: redirectUris,
        grant_types: ["authorization_code", "refresh_token"],
      },
    ],
    scopes: ["repo", "gist"],
    pkce: { required: () => requiresPkce },
    cookies: { keys: ["test"] },
    features: { devInteractions: { enabled: false }, revocation: { enabled: true } },
    interactions: { url: (_: unknown, { uid }: { uid: string }) => `/interaction/${uid}` },
    issueRefreshToken: () => true,
    rotateRefreshToken: rotates,
    findAccount: (_: unknown, id: string) => ({ accountId: id, claims: () => ({ sub: id }) }),
    ttl: {
      AccessToken: ({ oidc }: { oidc: { params: { grant_type: string } } }) =>
        oidc.params.grant_type === "refresh_token" ? 3_600 : tokenSeconds,
      Grant: 86_400,
      Interaction: 600,
      RefreshToken: 86_400,
      Session: 86_400,
    },
  });
  const self: AuthorizationServer = {
    issuer,
    clientId,
    clientSecret,
    grants: [],
    authorizations: [],
    onToken: () => {},
    onGate: () => {},
    instead: undefined,
    stars: [],
    close: async () => {
      http.closeAllConnections();
      http.close();
    },
  };
  provider.use(async (ctx, next) => {
    await next();
    const { route, params } = ctx.oidc ?? {};
    if (route === "token") self.grants.push(String(params?.["grant_type"]));
  });
  const serve = provider.callback();
  http.on("request", (req: IncomingMessage, res: ServerResponse) => {
    const { pathname, searchParams } = new URL(req.url ?? "/", issuer);
    if (pathname === "/auth") self.authorizations.push(searchParams);
    if (pathname.startsWith("/interaction/")) return void interaction(provider, req, res);
    if (pathname.startsWith("/api/")) return void api(provider, self, pathname, req, res);
    if (pathname !== "/token") return serve(req, res);
    if (self.instead !== undefined) return self.instead(req, res);
    return void Promise.resolve(self.onToken()).then(() => serve(req, res));
  });
  return self;
}

/** A form to sign in with and to allow or deny, which works with and without a browser. */
async function interaction(
  provider: Provider,
  req: IncomingMessage,
  res: ServerResponse,
): Promise<void> {
  const { params } = await provider.interactionDetails(req, res);
  if (req.method === "GET") {
    res.writeHead(200, { "content-type": "text/html" });
    res.end(`<!doctype html><title>Sign in</title><form method="post">
      <label>Name <input name="login"></label>
      <button name="action" value="allow">Allow</button><button name="action" value="deny">Deny</button></form>`);
    return;
  }
  const chunks: Buffer[] = [];
  for await (const chunk of req) chunks.push(Buffer.from(chunk));
  const form = new URLSearchParams(Buffer.concat(chunks).toString());
  const action = form.get("action") ?? "";
  if (action !== "allow") {
    const error = action === "deny" ? "access_denied" : action;
    const error_description = "<script>alert(1)</script>";
    return provider.interactionFinished(req, res, { error, error_description });
  }
  const accountId = form.get("login") ?? "";
  const grant = new provider.Grant({ accountId, clientId });
  grant.addOIDCScope(String(params["scope"]));
  const grantId = await grant.save();
  await provider.interactionFinished(req, res, { login: { accountId }, consent: { grantId } });
}

/** GitHub's API, as far as the example uses it. */
async function api(
  provider: Provider,
  self: AuthorizationServer,
  path: string,
  req: IncomingMessage,
  res: ServerResponse,
): Promise<void> {
  const who = /^\/api\/gate\/(.+)$/.exec(path)?.[1];
  if (who !== undefined) {
    await self.onGate(who);
    res.end();
    return;
  }
  const token = /^Bearer (.+)$/.exec(req.headers.authorization ?? "")?.[1] ?? "";
  const user = (await provider.AccessToken.find(token))?.accountId;
  const star = /^\/api\/user\/starred\/(.+)$/.exec(path)?.[1];
  const body = user === undefined ? { message: "Bad credentials" } : { login: user };
  if (user !== undefined && star !== undefined) self.stars.push(`${user}: ${star}`);
  res.writeHead(user === undefined ? 401 : 200, { "content-type": "application/json" });
  res.end(JSON.stringify(body));
}
