// Attacks on signing in, from the security best practice of OAuth (RFC 9700) and on what surrounds it. In each, Eve attacks
// Ada, who is the caller unless the test says otherwise.

import { once } from "node:events";
import { createServer } from "node:http";
import type { ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { oauth } from "mcp-parley/oauth";
import { describe, expect, onTestFinished, test } from "vitest";
import { MemoryStore } from "../../src/tasks/stores/memory.ts";
import { read } from "../../src/token/format.ts";
import { parseKeys } from "../../src/token/keyring.ts";
import { keys } from "../interop/errands.ts";
import { textIn } from "../wire/post.ts";
import { callback, done, linkIn, served, site, whoAmI } from "./served.ts";
import type { Served, ServedOptions } from "./served.ts";

const isCallback = (url: string) => url.includes("/callback?");

/** Ada has signed in, and her browser is about to be sent back. */
async function beforeCallback(options?: ServedOptions) {
  const made = await served(whoAmI, options);
  const ada = made.person("ada");
  const asked = await made.call("who", "ada");
  const link = linkIn(asked);
  const { url } = await ada.signIn(link, { until: isCallback });
  return { ...made, ada, asked, link, url };
}

/** The callback with other parameters. Undefined leaves one out. */
function changed(url: string, parameters: Readonly<Record<string, string | undefined>>): string {
  const at = new URL(url);
  for (const [name, value] of Object.entries(parameters)) {
    if (value === undefined) at.searchParams.delete(name);
    else at.searchParams.set(name, value);
  }
  return at.href;
}

/** Nobody has an account, and the question is still open. */
async function expectNothing({ call, app, github }: Served): Promise<void> {
  for (const user of ["ada", "eve"]) {
    expect(linkIn(await call("who", user))).toContain("/start/");
    expect(await app.disconnect(user, github)).toBe(false);
  }
}

describe("mix-up", () => {
  test.each([
    ["another issuer", "https://evil.example"],
    ["no issuer, although the server always names it", undefined],
  ])("a response with %s gets no token request", async (_what, iss) => {
    const made = await beforeCallback();
    const shown = await made.ada.open(changed(made.url, { iss }));
    expect(shown).toMatchObject({ status: 502, text: expect.stringContaining("Not connected") });
    expect(made.server.grants).toEqual([]);
    await expectNothing(made);
  });

  test("what one provider's sign-in began does not end at another provider's address", async () => {
    const evil = oauth({ name: "evil", issuer: "https://evil.example", clientId: "id" });
    const made = await served(
      (app, github) => {
        app.tool("who", {}, async (ctx) => (await ctx.connect(github)).provider);
      },
      { more: [evil] },
    );
    const ada = made.person("ada");
    const asked = await made.call("who", "ada");
    const { url } = await ada.signIn(linkIn(asked), { until: isCallback });
    const shown = await ada.open(url.replace("/oauth/github/", "/oauth/evil/"));
    expect(shown.status).toBe(400);
    expect(made.server.grants).toEqual([]);
    const start = linkIn(asked).replace("/oauth/github/", "/oauth/evil/");
    expect((await ada.open(start)).status).toBe(404);
  });
});

test("CSRF: a callback that another browser began is refused", async () => {
  const made = await beforeCallback();
  // Ada is sent to the end of a sign-in that Eve began, so that Ada would work with Eve's account.
  const eve = made.person("eve");
  const asked = await made.call("who", "eve");
  const { url } = await eve.signIn(linkIn(asked), { until: isCallback });
  const shown = await made.ada.open(url);
  expect(shown).toMatchObject({
    status: 400,
    text: expect.stringContaining("This browser did not begin this sign-in"),
  });
  expect(made.server.grants).toEqual([]);
  await expectNothing(made);
});

test.each([
  ["without a cookie", (cookies: Map<string, string>) => cookies.delete("__Host-parley-oauth")],
  [
    "with another cookie",
    (cookies: Map<string, string>) => cookies.set("__Host-parley-oauth", "x".repeat(43)),
  ],
])("CSRF: the right `state` %s is refused", async (_how, change) => {
  const made = await beforeCallback();
  change(made.ada.cookies.get("tools.example") ?? new Map());
  expect((await made.ada.open(made.url)).status).toBe(400);
  await expectNothing(made);
});

test.each([
  ["unknown", (url: string) => changed(url, { state: "x".repeat(43) })],
  ["missing", (url: string) => changed(url, { state: undefined })],
  ["there twice", (url: string) => `${url}&state=${new URL(url).searchParams.get("state")}`],
])("CSRF: a `state` that is %s is refused", async (_what, change) => {
  const made = await beforeCallback();
  expect((await made.ada.open(change(made.url))).status).toBe(400);
  expect(made.server.grants).toEqual([]);
  await expectNothing(made);
});

test("code injection: a code from another sign-in does not fit the verifier", async () => {
  const made = await beforeCallback();
  const eve = made.person("eve");
  const stolen = new URL(made.url).searchParams.get("code") ?? "";
  const asked = await made.call("who", "eve");
  const { url } = await eve.signIn(linkIn(asked), { until: isCallback });
  const shown = await eve.open(changed(url, { code: stolen }));
  expect(shown).toMatchObject({ status: 502, text: expect.stringContaining("invalid_grant") });
  expect(made.server.grants).toEqual(["authorization_code"]);
  await expectNothing(made);
});

describe("one person's link", () => {
  test("is not shown to another", async () => {
    const { call, person, server } = await served(whoAmI);
    const link = linkIn(await call("who", "ada"));
    const shown = await person("eve").open(link);
    expect(shown).toMatchObject({ status: 403, text: expect.stringContaining("for someone else") });
    const stranger = person("eve");
    stranger.cookies.clear();
    expect((await stranger.open(link)).status).toBe(403);
    expect(server.authorizations).toEqual([]);
  });

  test("is not completed by another, who was sent on to the provider", async () => {
    const made = await served(whoAmI);
    // Eve begins, and sends Ada to the provider: Eve's call would get Ada's account.
    const asked = await made.call("who", "eve");
    const { url: atProvider } = await made
      .person("eve")
      .open(linkIn(asked), { until: (url) => url.startsWith(made.server.issuer) });
    const shown = await made.person("ada").signIn(atProvider);
    expect(shown.status).toBe(400);
    expect(made.server.grants).toEqual([]);
    await expectNothing(made);
  });

  test("is not completed in the same browser after someone else has signed in to the site", async () => {
    const made = await beforeCallback();
    made.ada.cookies.get("tools.example")?.set("user", "eve");
    expect((await made.ada.open(made.url)).status).toBe(403);
    expect(made.server.grants).toEqual([]);
    made.ada.cookies.get("tools.example")?.set("user", "ada");
    expect((await made.ada.open(made.url)).text).toContain("Connected");
  });
});

test("a callback that is replayed sends no second token request", async () => {
  const made = await beforeCallback();
  expect((await made.ada.open(made.url)).text).toContain("Connected");
  expect((await made.ada.open(made.url)).text).toContain("Connected");
  expect(made.server.grants).toEqual(["authorization_code"]);
  await made.app.disconnect("ada", made.github);
  // After that, the old address connects nothing either.
  expect((await made.ada.open(made.url)).text).toContain("has been used already");
  expect(made.server.grants).toEqual(["authorization_code"]);
});

test("two callbacks at the same moment: one token request", async () => {
  const made = await beforeCallback();
  await Promise.all([made.ada.open(made.url), made.ada.open(made.url)]);
  expect(made.server.grants).toEqual(["authorization_code"]);
  expect(textIn(await made.call("who", "ada", done(made.asked)))).toBe("ada");
});

test("open redirect: nothing in a request decides where it leads", async () => {
  const made = await served(whoAmI);
  const link = linkIn(await made.call("who", "ada"));
  const query =
    "?redirect_uri=https://evil.example&return_to=//evil.example&next=https://evil.example";
  const headers = {
    cookie: "user=ada",
    host: "evil.example",
    "x-forwarded-host": "evil.example",
    "x-forwarded-proto": "http",
    forwarded: "host=evil.example",
  };
  const started = await made.app.pages(new Request(`${link}${query}`, { headers }));
  const location = new URL(started.headers.get("location") ?? "");
  expect(location.origin).toBe(made.server.issuer);
  expect(location.searchParams.get("redirect_uri")).toBe(callback);
  const ada = made.person("ada");
  const { url } = await ada.signIn(link, { until: isCallback });
  const ended = await ada.open(`${url}&${query.slice(1)}`);
  expect(ended.url).toBe(link);
  expect(
    ada.visited.filter((at) => !at.startsWith(site) && !at.startsWith(made.server.issuer)),
  ).toEqual([]);
});

test("the cookie belongs to this host, to https and to no script, and the page is kept nowhere", async () => {
  const made = await served(whoAmI);
  const link = linkIn(await made.call("who", "ada"));
  const { headers } = await made.app.pages(new Request(link, { headers: { cookie: "user=ada" } }));
  expect(headers.getSetCookie()).toEqual([
    expect.stringMatching(
      /^__Host-parley-oauth=[\w-]{43}; Path=\/; Max-Age=900; HttpOnly; SameSite=Lax; Secure$/,
    ),
  ]);
  expect(headers.get("cache-control")).toBe("no-store");
  expect(headers.get("referrer-policy")).toBe("no-referrer");
});

describe("PKCE", () => {
  test("every attempt has a `state` and a challenge of its own", async () => {
    const made = await served(whoAmI);
    const link = linkIn(await made.call("who", "ada"));
    const ada = made.person("ada");
    await ada.open(link);
    await ada.open(link);
    const [one, other] = made.server.authorizations;
    expect(one?.get("code_challenge_method")).toBe("S256");
    for (const name of ["state", "code_challenge"]) {
      expect(one?.get(name)).toMatch(/^[\w-]{43}$/);
      expect(other?.get(name)).not.toBe(one?.get(name));
    }
    expect(link).not.toContain(one?.get("state"));
  });

  test("downgrade: without the challenge there is no token", async () => {
    const made = await served(whoAmI, { server: { requiresPkce: false } });
    const ada = made.person("ada");
    const link = linkIn(await made.call("who", "ada"));
    const { url } = await ada.open(link, { until: (at) => at.startsWith(made.server.issuer) });
    const stripped = changed(url, { code_challenge: undefined, code_challenge_method: undefined });
    const shown = await ada.signIn(stripped);
    expect(shown).toMatchObject({ status: 502, text: expect.stringContaining("invalid_grant") });
    await expectNothing(made);
  });

  test("downgrade: a provider that offers only plain challenges is not used", async () => {
    const issuer = await pretender((path, res) => {
      const endpoints = {
        authorization_endpoint: `${issuer}/auth`,
        token_endpoint: `${issuer}/token`,
      };
      const methods = { code_challenge_methods_supported: ["plain"] };
      json(res, path.includes("well-known") ? { issuer, ...endpoints, ...methods } : {});
    });
    const weak = oauth({ name: "weak", issuer, clientId: "id" });
    const { call, person, log } = await served(
      (app) => void app.tool("who", {}, async (ctx) => (await ctx.connect(weak)).provider),
      { more: [weak] },
    );
    const shown = await person("ada").open(linkIn(await call("who", "ada"), "weak"));
    expect(shown.status).toBe(502);
    expect(log()).toContain("its metadata has no PKCE with S256");
  });
});

test("XSS: what a provider says is not shown as it is", async () => {
  const made = await beforeCallback();
  const script = "<script>alert(1)</script>";
  const shown = await made.ada.open(
    changed(made.url, {
      code: undefined,
      error: script,
      error_description: script,
      error_uri: "javascript:alert(1)",
    }),
  );
  expect(shown.text).toContain("Not connected");
  expect(shown.text).not.toContain("alert");
  expect(shown.headers.get("content-security-policy")).toContain("default-src 'none'");
});

describe("a token endpoint that misbehaves is left after a bounded time and size", () => {
  const store = () => new MemoryStore({ leaseMs: 1_000 });
  const cases: readonly [string, (res: ServerResponse) => void, string][] = [
    ["never answers", () => {}, "no response in time"],
    [
      "answers forever",
      (res) => {
        res.writeHead(200, { "content-type": "application/json" });
        const more = () => {
          if (!res.destroyed) setImmediate(more);
          res.write(" ");
        };
        more();
      },
      "",
    ],
    [
      "answers with a megabyte",
      (res) => json(res, { access_token: "x".repeat(1_000_000), token_type: "bearer" }),
      "more than 65536 bytes",
    ],
    [
      "answers with a page",
      (res) => void res.writeHead(200, { "content-type": "text/html" }).end("<p>"),
      "",
    ],
    ["hangs up", (res) => void res.destroy(), ""],
    ["has no token", (res) => json(res, { token_type: "bearer" }), ""],
  ];
  test.each(cases)("%s", async (_how, answer, reason) => {
    const made = await beforeCallback({ app: { store: store() } });
    made.server.instead = (_req, res) => answer(res);
    const shown = await made.ada.open(made.url);
    expect(shown).toMatchObject({
      status: 502,
      text: expect.stringContaining("You can try again."),
    });
    expect(made.log()).toContain(reason);
    await expectNothing(made);
  });

  test("redirects, so that another server would get the code", async () => {
    const asked: string[] = [];
    const thief = await pretender((path, res) => {
      asked.push(path);
      json(res, { access_token: "of the thief", token_type: "bearer" });
    });
    const made = await beforeCallback();
    made.server.instead = (_req, res) =>
      void res.writeHead(307, { location: `${thief}/token` }).end();
    expect((await made.ada.open(made.url)).status).toBe(502);
    expect(asked).toEqual([]);
    await expectNothing(made);
  });

  test("as GitHub does it: an error with the status of a success", async () => {
    const made = await beforeCallback({ hasMetadata: false });
    made.server.instead = (_req, res) => json(res, { error: "incorrect_client_credentials" });
    const shown = await made.ada.open(made.url);
    expect(shown.text).toContain("It says: incorrect_client_credentials.");
  });
});

test("no token, code, verifier or secret in a log, a journal, an audit record, a requestState or a page [D14]", async () => {
  const secrets = new Set<string>();
  const made = await served(
    (app, github) => {
      app.tool("who", {}, async (ctx) => {
        const account = await ctx.connect(github);
        await ctx.step("use", async () => void secrets.add(await account.accessToken()));
        await ctx.confirm("ok", "Ok?");
        throw new Error("over");
      });
    },
    { app: { store: new MemoryStore() } },
  );
  const ada = made.person("ada");
  const asked = await made.call("who", "ada");
  const { url } = await ada.signIn(linkIn(asked), { until: isCallback });
  secrets.add(new URL(url).searchParams.get("code") ?? "");
  const shown = await ada.open(url);
  const next = await made.call("who", "ada", done(asked));
  const last = await made.call("who", "ada", {
    requestState: next.result?.["requestState"],
    inputResponses: { ok: { action: "accept", content: {} } },
  });
  secrets.add(made.server.clientSecret);
  expect(secrets.size).toBe(3);
  // The journal is sealed in the requestState, so that looking at it from outside proves nothing.
  const state = read("v1", String(next.result?.["requestState"]), parseKeys(keys));
  const journal = state.kind === "read" ? state.payload.toString() : "";
  expect(journal).toContain('"github"');
  const written = [
    journal,
    made.log(),
    JSON.stringify(made.audit),
    shown.text,
    JSON.stringify([asked, next, last]),
  ];
  for (const secret of secrets) {
    expect(secret.length).toBeGreaterThan(10);
    for (const text of written) expect(text).not.toContain(secret);
  }
  const { inspect } = await import("node:util");
  expect(
    `${inspect(made.github, { depth: 9, showHidden: true })}${JSON.stringify(made.github)}`,
  ).not.toContain(made.server.clientSecret);
});

test("the page of questions, app.deliver and other methods do not answer in place of the sign-in", async () => {
  const made = await served(whoAmI);
  const link = linkIn(await made.call("who", "ada"));
  const ticket = link.slice(link.lastIndexOf("/") + 1);
  const ada = made.person("ada");
  expect((await ada.open(`${site}/ask/${ticket}`)).status).toBe(404);
  const headers = {
    cookie: "user=ada",
    origin: site,
    "content-type": "application/x-www-form-urlencoded",
  };
  const post = new Request(`${site}/ask/${ticket}`, { method: "POST", headers, body: "json=true" });
  expect((await made.app.pages(post)).status).toBe(404);
  await expect(made.app.deliver(ticket, true)).rejects.toMatchObject({ code: "bad_ticket" });
  for (const method of ["POST", "HEAD", "PUT"]) {
    expect((await made.app.pages(new Request(link, { method, headers }))).status).toBe(405);
  }
  expect((await made.app.pages(new Request(`${site}/oauth/other/callback`))).status).toBe(404);
  await expectNothing(made);
});

/** A server that pretends to be a provider. */
async function pretender(serve: (path: string, res: ServerResponse) => void): Promise<string> {
  const http = createServer((req, res) => serve(req.url ?? "", res)).listen(0, "127.0.0.1");
  onTestFinished(() => {
    http.closeAllConnections();
    http.close();
  });
  await once(http, "listening");
  return `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
}

const json = (res: ServerResponse, body: object): void =>
  void res.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(body));
