// Who is calling: with `auth`, a request needs verified credentials that name a user.

import type { AuthInfo, BearerAuthOptions } from "@modelcontextprotocol/server";
import { OAuthError, OAuthErrorCode } from "@modelcontextprotocol/server";
import { describe, expect, test } from "vitest";
import { readStreamsMethod } from "../../src/protocol/streaming.ts";
import { callTool, envelope, exchange, post, textIn } from "./post.ts";
import { served } from "./served.ts";
import { till } from "./till.ts";

const users: Readonly<Record<string, Record<string, unknown>>> = {
  adas: { iss: "https://id.example", sub: "ada" },
  "the-applications": {},
  "with-an-empty-user": { sub: "" },
  "with-a-number": { sub: 7 },
  eves: { iss: "https://id.example", sub: "eve" },
};

const auth: BearerAuthOptions = {
  verifier: {
    verifyAccessToken: async (token) => {
      const extra = users[token];
      if (extra === undefined) throw new OAuthError(OAuthErrorCode.InvalidToken, "unknown token");
      return {
        token,
        clientId: "an-application",
        scopes: ["pay"],
        expiresAt: Date.now() / 1000 + 3_600,
        extra,
      };
    },
  },
};
const principal = ({ extra }: AuthInfo) => extra?.["sub"] as string;
const bearer = (token: string) => ({ headers: { authorization: `Bearer ${token}` } });

describe("with auth", () => {
  test.each([
    ["no credentials", {}],
    ["unknown credentials", { authorization: "Bearer nobodys" }],
    ["credentials of another scheme", { authorization: "Basic adas" }],
    ["an empty scheme", { authorization: "Bearer " }],
  ])("%s get 401 and a challenge, and no handler runs [D10]", async (_, headers) => {
    const { to, called } = await served({ auth, principal });
    const response = await post(to, envelope("tools/call", { name: "free" }), { headers });
    expect(response.status).toBe(401);
    expect(response.headers.get("www-authenticate")).toMatch(/^Bearer error="invalid_token"/);
    expect(called).toEqual([]);
  });

  test.each(["the-applications", "with-an-empty-user", "with-a-number"])(
    "credentials %s, without a user, get 403, because the application alone is not a user [D10] [D15]",
    async (token) => {
      const { to, called, logged } = await served({ auth, principal });
      const response = await post(to, envelope("tools/call", { name: "free" }), bearer(token));
      expect(response.status).toBe(403);
      expect(await response.json()).toEqual({
        error: "invalid_token",
        error_description: "The token does not identify a user.",
      });
      expect(called).toEqual([]);
      expect(logged.at(-1)).toMatchObject({ level: "error", fields: { code: "no_principal" } });
    },
  );

  test("a principal function that throws lets no caller in", async () => {
    const { to, called } = await served({
      auth,
      principal: () => {
        throw new Error("the directory is down");
      },
    });
    const response = await post(to, envelope("tools/call", { name: "free" }), bearer("adas"));
    expect(response.status).toBe(403);
    expect(called).toEqual([]);
  });

  test("ctx.request has the verified facts, and those of this request [D15]", async () => {
    const { to } = await served({ auth, principal });
    const meta = {
      "io.modelcontextprotocol/clientInfo": { name: "mine", version: "2.0.0" },
      "example.com/trace": "t-1",
    };
    const { headers } = bearer("adas");
    const told = await callTool(
      to,
      "facts",
      {},
      {
        meta,
        headers: { ...headers, "x-tenant": "north" },
      },
    );
    expect(JSON.parse(textIn(told))).toMatchObject({
      principal: "ada",
      authInfo: { clientId: "an-application", scopes: ["pay"], extra: users["adas"] },
      clientInfo: { name: "mine", version: "2.0.0" },
      meta: { "example.com/trace": "t-1" },
      header: "north",
    });
  });

  test("a client's claims about itself do not decide its identity [S10] [D15]", async () => {
    const { to } = await served({ auth, principal });
    const meta = {
      "io.modelcontextprotocol/clientInfo": { name: "root", version: "1" },
      principal: "root",
      sub: "root",
    };
    const { headers } = bearer("adas");
    const told = await callTool(
      to,
      "facts",
      {},
      { meta, headers: { ...headers, "x-user": "root" } },
    );
    expect(JSON.parse(textIn(told))).toMatchObject({ principal: "ada" });
  });

  test("every request is verified, including lists, discovery and tasks [D10]", async () => {
    const { to } = await served({ auth, principal });
    const methods = ["tools/list", "server/discover", "subscriptions/listen", "tasks/get"];
    for (const method of [...methods, readStreamsMethod]) {
      expect((await post(to, envelope(method))).status).toBe(401);
    }
    expect((await fetch(to)).status).toBe(401);
    expect((await exchange(to, envelope("tools/list"), bearer("adas"))).status).toBe(200);
  });
});

describe("a 2025-11-25 session", () => {
  test("belongs to its user alone, and does not exist for another [D10] [D15]", async () => {
    const { to, called } = await served({
      auth,
      principal: ({ token }) => token,
    });
    const send = (message: object, user: string, session?: string) =>
      fetch(to, {
        method: "POST",
        headers: {
          "content-type": "application/json",
          accept: "application/json, text/event-stream",
          ...bearer(user).headers,
          ...(session === undefined ? {} : { "mcp-session-id": session }),
        },
        body: JSON.stringify({ jsonrpc: "2.0", ...message }),
      });
    const initialize = {
      id: 1,
      method: "initialize",
      params: {
        protocolVersion: "2025-11-25",
        capabilities: {},
        clientInfo: { name: "by hand", version: "1.0.0" },
      },
    };
    const opened = await send(initialize, "adas");
    const session = opened.headers.get("mcp-session-id") ?? "";
    const call = { id: 2, method: "tools/call", params: { name: "free", arguments: {} } };
    const stolen = await send(call, "eves", session);
    const unknown = await send(call, "eves", "no-such-session");
    expect([stolen.status, await stolen.text()]).toEqual([404, await unknown.text()]);
    expect(called).toEqual([]);
    expect((await send(call, "adas", session)).status).toBe(200);
    expect(called).toEqual(["free"]);
  });
});

describe("without auth", () => {
  test("all callers share one anonymous principal, whatever headers they send", async () => {
    const { to } = await served();
    const told = await callTool(to, "facts", {}, bearer("adas"));
    expect(JSON.parse(textIn(told))).not.toHaveProperty("principal");
    expect(JSON.parse(textIn(told))).not.toHaveProperty("authInfo");
  });

  test("a host that verifies callers names them, by issuer and subject by default [D10]", async () => {
    const { app } = till();
    const authInfo = { token: "t", clientId: "an-application", scopes: [], extra: users["adas"] };
    const told = await callTool(
      (request) => app.handle(request, { authInfo: authInfo as AuthInfo }),
      "facts",
    );
    expect(JSON.parse(textIn(told))).toMatchObject({ principal: "https://id.example ada" });
  });

  test("a host is refused if it names only the application [D10]", async () => {
    const { app, called } = till();
    const authInfo = { token: "t", clientId: "an-application", scopes: [] };
    const request = envelope("tools/call", { name: "free" });
    const response = await post((sent) => app.handle(sent, { authInfo }), request);
    expect(response.status).toBe(403);
    expect(called).toEqual([]);
  });

  const asked = (extra: Record<string, unknown>, tool = "facts") => {
    const { app, called, logged } = till();
    const authInfo: AuthInfo = { token: "t", clientId: "an-application", scopes: [], extra };
    const to = (request: Request) => app.handle(request, { authInfo });
    return { app, called, logged, answer: () => callTool(to, tool), to };
  };

  test("different issuers and subjects are never the same caller, and usual ones keep their names", async () => {
    const pairs: readonly (readonly [Record<string, unknown>, string])[] = [
      [{ sub: "ada" }, "ada"],
      [{ iss: "https://i", sub: "a" }, "https://i a"],
      [{ iss: "https://i", sub: "a b" }, "https://i a b"],
      [{ iss: "app", sub: "a" }, "app a"],
      [{ sub: "https://i a" }, '["https://i a"]'],
      [{ sub: '["https://i a"]' }, '["[\\"https://i a\\"]"]'],
      [{ iss: "https://i a", sub: "b" }, '["https://i a","b"]'],
      [{ iss: '["x', sub: 'y"]' }, '["[\\"x","y\\"]"]'],
      [{ iss: '["https://i', sub: 'a"]' }, '["[\\"https://i","a\\"]"]'],
      [{ iss: "", sub: "a" }, " a"],
      [{ sub: " a" }, '[" a"]'],
    ];
    for (const [extra, name] of pairs) {
      const told = JSON.parse(textIn(await asked(extra).answer()));
      expect(told).toMatchObject({ principal: name });
    }
    expect(new Set(pairs.map(([, name]) => name)).size).toBe(pairs.length);
  });

  test.each([
    [{ sub: "a\0b" }],
    [{ sub: "a\uD800" }],
    [{ sub: "a \uD800" }],
    [{ iss: "https://i\0", sub: "a" }],
    [{ iss: "a b\uDC00", sub: "a" }],
  ])("a name that cannot be stored gets 403 before anything else: %j", async (extra) => {
    const { called, logged, to } = asked(extra);
    for (const request of [envelope("tools/call", { name: "free" }), envelope("tools/list")]) {
      expect((await post(to, request)).status).toBe(403);
    }
    expect(called).toEqual([]);
    expect(logged[0]?.message).toContain("a character that cannot be stored");
  });
});

test("a name that parley({ principal }) gives is checked in the same way", async () => {
  const { to, called } = await served({ auth, principal: ({ token }) => `${token}\0` });
  const response = await post(to, envelope("tools/call", { name: "free" }), bearer("adas"));
  expect(response.status).toBe(403);
  expect(called).toEqual([]);
});

describe("where callers get their tokens", () => {
  const authorizationServers = ["https://login.example.com"];
  const wellKnown = "/.well-known/oauth-protected-resource";
  const read = async (to: string, path: string, method = "GET") => {
    const response = await fetch(new URL(path, to), { method });
    return { response, text: await response.text() };
  };

  test.each([wellKnown, `${wellKnown}/mcp`])(
    "is published at %s, without credentials and for any page",
    async (path) => {
      const { to } = await served({ auth: { ...auth, authorizationServers }, principal });
      const { response, text } = await read(to, path);
      expect(response.status).toBe(200);
      expect(response.headers.get("access-control-allow-origin")).toBe("*");
      expect(JSON.parse(text)).toEqual({
        resource: to,
        authorization_servers: authorizationServers,
        bearer_methods_supported: ["header"],
        resource_name: "till",
      });
      expect((await read(to, path, "POST")).response.status).toBe(405);
      expect((await read(to, path, "OPTIONS")).response.status).toBe(204);
    },
  );

  test("names the public address and the scopes, and a refusal says where the document is", async () => {
    const expectedResource = new URL("https://tools.example.com/team/mcp");
    const more = { authorizationServers, expectedResource, requiredScopes: ["pay"] };
    const { to } = await served({ auth: { ...auth, ...more }, principal });
    const { text } = await read(to, `${wellKnown}/team/mcp`);
    expect(JSON.parse(text)).toMatchObject({
      resource: "https://tools.example.com/team/mcp",
      scopes_supported: ["pay"],
    });
    const refused = await post(to, envelope("tools/list"));
    expect(refused.headers.get("www-authenticate")).toContain(
      'resource_metadata="https://tools.example.com/.well-known/oauth-protected-resource/team/mcp"',
    );
  });

  test("is not published if no authorization server is named", async () => {
    const { to } = await served({ auth, principal });
    expect((await read(to, wellKnown)).response.status).toBe(404);
  });

  test("must be a URL", async () => {
    const { app } = till({ auth: { ...auth, authorizationServers: ["login"] }, principal });
    await expect(app.listen(0)).rejects.toThrow('auth.authorizationServers has "login"');
  });

  test.each([
    ["https://tools.example.com/mcp", 200],
    ["https://other.example.com/mcp", 401],
    [undefined, 401],
  ])("a token for %s gets %d from a server that expects its own", async (resource, status) => {
    const verifier = {
      verifyAccessToken: async (token: string) => ({
        ...(await auth.verifier.verifyAccessToken(token)),
        ...(resource === undefined ? {} : { resource: new URL(resource) }),
      }),
    };
    const expectedResource = new URL("https://tools.example.com/mcp");
    const { to } = await served({ auth: { verifier, expectedResource }, principal });
    expect((await post(to, envelope("tools/list"), bearer("adas"))).status).toBe(status);
  });
});
