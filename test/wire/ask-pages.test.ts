// The pages that the server hosts for its questions: over real HTTP, as a browser and as an attacker would use them.

import { parley } from "mcp-parley";
import type { App, ListenOptions, ParleyOptions } from "mcp-parley";
import { afterEach, describe, expect, test, vi } from "vitest";
import { z } from "zod";
import { nodeEnvironment } from "../../src/server/ops/environment.ts";
import { keys, quiet } from "../interop/errands.ts";
import { callTool, textIn, tokenIn } from "./post.ts";
import type { Answer } from "./post.ts";
import { testStore } from "./test-store.ts";

const opened: { close: () => Promise<void> }[] = [];
afterEach(async () => {
  vi.restoreAllMocks();
  for (const app of opened.splice(0)) await app.close();
});

const ran: string[] = [];

function make(options: Partial<ParleyOptions> = {}): App {
  const settings = { store: testStore(), keys, logger: quiet, url: "https://desk.example.com" };
  const app = parley({ name: "desk", version: "1.0.0", ...settings, ...options } as ParleyOptions);
  opened.push(app);
  ran.length = 0;
  const Ticket = z.object({ how: z.enum(["Fixed", "Duplicate"]), of: z.int().min(1).optional() });
  app.tool("resolve", {}, async (ctx) => {
    const { how, of } = await ctx.ask("how", "How was it resolved?", Ticket);
    await ctx.step("close", () => void ran.push(`${how} ${of}`));
    return `${how} ${of ?? "-"}`;
  });
  app.tool("even", {}, async (ctx) =>
    String(
      await ctx.ask(
        "n",
        "An even number?",
        z.int().refine((n) => n % 2 === 0, "be even"),
      ),
    ),
  );
  app.tool("erase", {}, async (ctx) =>
    (await ctx.confirm("sure", "Erase it?")) ? "gone" : "kept",
  );
  app.tool("secret", {}, async (ctx) => {
    const key = await ctx.ask("key", "Your API key?", undefined, { sensitive: true });
    return `${key.length} characters`;
  });
  app.tool("bank", {}, async (ctx) => {
    const at = (ticket: string) => `https://bank.example.com/?t=${ticket}`;
    const { iban } = await ctx.openUrl("iban", "Choose an account", at, {
      schema: z.object({ iban: z.string().min(4) }),
    });
    return iban;
  });
  return app;
}

/** A client that can open pages and cannot show forms. */
const pagesOnly = { capabilities: { elicitation: { url: {} } } };

interface Page {
  readonly mode: string;
  readonly message: string;
  readonly url: string;
}
function pageIn({ result = {} }: Answer): Page {
  const [request] = Object.values(result["inputRequests"] as Record<string, { params: Page }>);
  if (request === undefined) throw new Error(`Nothing was asked: ${JSON.stringify(result)}`);
  return request.params;
}

const ask = (app: App, tool: string, more: object = {}) =>
  callTool(app, tool, {}, { ...pagesOnly, ...more });

/** The client says that its user opened the page. */
const goOn = (app: App, tool: string, before: Answer, action = "accept") => {
  const [key = ""] = Object.keys(before.result?.["inputRequests"] as object);
  return ask(app, tool, {
    requestState: tokenIn(before),
    inputResponses: { [key]: { action } },
  });
};

const get = (app: App, url: string, headers: Record<string, string> = {}) =>
  app.pages(new Request(url, { headers }));

function post(app: App, url: string, fields: Record<string, string>, headers = ownOrigin) {
  const body = new URLSearchParams({ action: "accept", ...fields });
  return app.pages(new Request(url, { method: "POST", body, headers }));
}
const ownOrigin: Record<string, string> = { origin: "https://desk.example.com" };

/** Twenty seconds pass at once. */
function hurry() {
  let now = Date.now();
  vi.spyOn(nodeEnvironment, "now").mockImplementation(() => now);
  vi.spyOn(nodeEnvironment, "after").mockImplementation((ms, callback) => {
    now += ms;
    const immediate = setImmediate(callback);
    return () => clearImmediate(immediate);
  });
}

describe("a question of a client that opens pages", () => {
  test("goes by the page, and its answer comes with the next round", async () => {
    const app = make();
    const asked = await ask(app, "resolve");
    const { mode, message, url } = pageIn(asked);
    expect([mode, message]).toEqual(["url", "How was it resolved?"]);
    expect(url).toMatch(/^https:\/\/desk\.example\.com\/ask\/[\w.-]+$/);
    const shown = await get(app, url);
    expect(shown.status).toBe(200);
    expect(await shown.text()).toContain("How was it resolved?");
    const sent = await post(app, url, { "f.how": "Duplicate", "f.of": "7" });
    expect([sent.status, sent.headers.get("location")]).toEqual([303, `${url}?saved`]);
    expect(await (await get(app, `${url}?saved`)).text()).toContain(
      "Go back to the chat and say that you are done.",
    );
    expect(textIn(await goOn(app, "resolve", asked))).toBe("Duplicate 7");
    expect(ran).toEqual(["Duplicate 7"]);
  });

  test("is asked again if the page has no answer within twenty seconds, under the same link", async () => {
    const app = make();
    hurry();
    const asked = await ask(app, "resolve");
    const again = await goOn(app, "resolve", asked);
    expect(pageIn(again).message).toBe("Not finished yet: How was it resolved?");
    await post(app, pageIn(asked).url, { "f.how": "Fixed" });
    expect(textIn(await goOn(app, "resolve", again))).toBe("Fixed -");
  });

  test("does not take the client's word for the answer", async () => {
    const app = make();
    hurry();
    for (const tool of ["erase", "secret"]) {
      const asked = await ask(app, tool);
      const [key = ""] = Object.keys(asked.result?.["inputRequests"] as object);
      const forged = { action: "accept", content: { [key]: "from the client" } };
      const response = await ask(app, tool, {
        requestState: tokenIn(asked),
        inputResponses: { [key]: forged },
      });
      expect(pageIn(response).message).toContain("Not finished yet");
    }
  });

  test("can be declined on the page and in the client, and the first of the two counts", async () => {
    const app = make();
    const onPage = await ask(app, "erase");
    await app.pages(
      new Request(pageIn(onPage).url, {
        method: "POST",
        body: new URLSearchParams({ action: "decline" }),
        headers: ownOrigin,
      }),
    );
    expect(textIn(await goOn(app, "erase", onPage))).toBe("kept");
    const inClient = await ask(app, "erase");
    expect(textIn(await goOn(app, "erase", inClient, "decline"))).toBe("kept");
    const late = await post(app, pageIn(inClient).url, {});
    expect(await late.text()).toContain("Already answered");
    const yes = await ask(app, "erase");
    await post(app, pageIn(yes).url, {});
    expect(textIn(await goOn(app, "erase", yes, "cancel"))).toBe("gone");
  });

  test("gets a new link if its answer does not fit the handler's own schema", async () => {
    const app = make();
    const asked = await ask(app, "even");
    await post(app, pageIn(asked).url, { "f.n": "3" });
    const again = await goOn(app, "even", asked);
    expect(pageIn(again).message).toContain("be even");
    await post(app, pageIn(again).url, { "f.n": "4" });
    expect(textIn(await goOn(app, "even", again))).toBe("4");
  });

  test("shows what is wrong beside the field, and keeps what was typed", async () => {
    const app = make();
    const { url } = pageIn(await ask(app, "resolve"));
    const wrong = await post(app, url, { "f.how": "Duplicate", "f.of": "0" });
    const text = await wrong.text();
    expect(wrong.status).toBe(422);
    expect(text).toContain("Please enter a whole number of at least 1.");
    expect(text).toMatch(/aria-invalid="true"/);
    expect(text).toMatch(/value="Duplicate" [^>]*checked|checked[^>]* value="Duplicate"/);
  });

  test("a secret goes by the page even if the client shows forms, and is not shown as it is typed [D11]", async () => {
    const app = make();
    const forms = { capabilities: { elicitation: { form: {}, url: {} } } };
    const asked = await ask(app, "secret", forms);
    const { mode, url } = pageIn(asked);
    expect(mode).toBe("url");
    expect(await (await get(app, url)).text()).toContain('type="password"');
    await post(app, url, { "f.key": "s3cret" });
    expect(textIn(await goOn(app, "secret", asked))).toBe("6 characters");
    expect(pageIn(await ask(app, "resolve", forms)).mode).toBe("form");
  });

  test("takes one answer, however often it is sent", async () => {
    const app = make();
    const asked = await ask(app, "resolve");
    const { url } = pageIn(asked);
    const all = await Promise.all(
      ["Fixed", "Duplicate", "Fixed"].map((how) => post(app, url, { "f.how": how })),
    );
    expect(all.map(({ status }) => `${status}`).toSorted()).toEqual(["200", "200", "303"]);
    await goOn(app, "resolve", asked);
    expect(await (await post(app, url, { "f.how": "Fixed" })).text()).toContain("Already answered");
    expect(ran).toHaveLength(1);
  });
});

describe("openUrl with a schema", () => {
  test("resolves with what app.deliver brings, not when the client accepts", async () => {
    const app = make();
    hurry();
    const asked = await ask(app, "bank");
    const ticket = new URL(pageIn(asked).url).searchParams.get("t") ?? "";
    expect(app.readTicket(ticket)).toMatchObject({ kind: "page", key: "iban" });
    expect(pageIn(await goOn(app, "bank", asked)).message).toContain("Not finished yet");
    expect(await app.deliver(ticket, { iban: "X" })).toMatchObject({ status: "invalid" });
    expect(await app.deliver(ticket, { iban: "DE00" })).toEqual({ status: "delivered" });
    expect(await app.deliver(ticket, { iban: "DE11" })).toEqual({ status: "already_answered" });
    expect(textIn(await goOn(app, "bank", asked))).toBe("DE00");
  });
});

describe("attacks", () => {
  test("a link preview changes nothing, and search engines and caches keep nothing", async () => {
    const app = make();
    const { url } = pageIn(await ask(app, "resolve"));
    for (let n = 0; n < 3; n += 1) await get(app, url, { "user-agent": "Slackbot-LinkExpanding" });
    const { headers } = await get(app, url);
    expect(headers.get("cache-control")).toBe("no-store");
    expect(headers.get("x-robots-tag")).toContain("noindex");
    expect(headers.get("referrer-policy")).toBe("same-origin");
    expect((await post(app, url, { "f.how": "Fixed" })).status).toBe(303);
  });

  test("no site can frame the page, and nothing runs in it", async () => {
    const app = make();
    const { url } = pageIn(await ask(app, "resolve"));
    const page = await get(app, url);
    const policy = page.headers.get("content-security-policy") ?? "";
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).toContain("default-src 'none'");
    expect(policy).not.toMatch(/unsafe|script-src/);
    expect(page.headers.get("x-frame-options")).toBe("DENY");
    expect(await page.text()).not.toContain("<script");
  });

  test.each([undefined, "null", "https://evil.example", "https://desk.example.com.evil.example"])(
    "a form that was sent with the origin %j is refused",
    async (origin) => {
      const app = make();
      const { url } = pageIn(await ask(app, "resolve"));
      const headers: Record<string, string> = origin === undefined ? {} : { origin };
      expect((await post(app, url, { "f.how": "Fixed" }, headers)).status).toBe(403);
      expect((await post(app, url, { "f.how": "Fixed" })).status).toBe(303);
    },
  );

  test("a bad ticket is refused before the store is asked", async () => {
    const store = testStore();
    const app = make({ store });
    const { url } = pageIn(await ask(app, "resolve"));
    const read = vi.spyOn(store, "readByCall");
    const kept = vi.spyOn(store, "spilled");
    for (const bad of [
      `${url}x`,
      url.replace(/.{8}$/, "AAAAAAAA"),
      "https://desk.example.com/ask/x",
    ]) {
      expect((await get(app, bad)).status).toBe(404);
      expect((await post(app, bad, {})).status).toBe(404);
    }
    expect([read, kept].map(({ mock }) => mock.calls.length)).toEqual([0, 0]);
  });

  test("text of the author cannot become HTML", async () => {
    const app = make();
    app.tool("x", {}, async (ctx) => ctx.ask("q", "<img src=x onerror=alert(1)>"));
    const { url } = pageIn(await ask(app, "x"));
    expect(await (await get(app, url)).text()).not.toContain("<img");
  });

  test("a body that is too large, or of another type, is refused", async () => {
    const app = make();
    const { url } = pageIn(await ask(app, "resolve"));
    const large = await post(app, url, { "f.how": "x".repeat(300_000) });
    expect(large.status).toBe(413);
    const headers = { ...ownOrigin, "content-type": "application/json" };
    const other = new Request(url, { method: "POST", body: "{}", headers });
    expect((await app.pages(other)).status).toBe(413);
  });

  test("redirects use the public address, whatever the Host header says", async () => {
    const app = make();
    const { url } = pageIn(await ask(app, "resolve"));
    const elsewhere = url.replace("https://desk.example.com", "http://evil.example");
    const sent = await post(app, elsewhere, { "f.how": "Fixed" });
    expect(sent.headers.get("location")).toBe(`${url}?saved`);
  });
});

describe("visitors", () => {
  const auth = {
    verifier: {
      verifyAccessToken: async (token: string) => ({
        token,
        clientId: "c",
        scopes: [],
        expiresAt: Math.ceil(Date.now() / 1000) + 60,
      }),
    },
  };
  const signedIn = (who?: string): Record<string, string> =>
    who === undefined ? {} : { cookie: `who=${who}` };
  const authorize = (request: Request) => {
    const who = /who=(\w+)/.exec(request.headers.get("cookie") ?? "")?.[1];
    if (who === undefined) {
      return new Response(undefined, { status: 302, headers: { location: "/sign-in" } });
    }
    return who === "banned" ? undefined : { principal: who };
  };
  const guarded = (): Partial<ParleyOptions> => ({
    auth,
    principal: ({ token }: { token: string }) => token,
    pages: { authorize },
  });

  test("a stolen link is of no use to anyone but the person who was asked [D13]", async () => {
    const app = make(guarded());
    const asked = await ask(app, "resolve", { headers: { authorization: "Bearer ada" } });
    const { url } = pageIn(asked);
    const away = await get(app, url);
    expect([away.status, away.headers.get("location")]).toEqual([302, "/sign-in"]);
    expect(away.headers.get("cache-control")).toBe("no-store");
    for (const who of ["bob", "banned"]) {
      expect((await get(app, url, signedIn(who))).status).toBe(403);
      const sent = await post(app, url, { "f.how": "Fixed" }, { ...ownOrigin, ...signedIn(who) });
      expect(sent.status).toBe(403);
    }
    const shown = await get(app, url, signedIn("ada"));
    expect(await shown.text()).not.toContain("Anyone who has this link");
    const sent = await post(app, url, { "f.how": "Fixed" }, { ...ownOrigin, ...signedIn("ada") });
    expect(sent.status).toBe(303);
  });

  test("without auth the page says that the link is all it takes", async () => {
    const app = make();
    const { url } = pageIn(await ask(app, "resolve"));
    expect(await (await get(app, url)).text()).toContain("Anyone who has this link can answer.");
  });

  test("an app with auth does not start in production unless it knows its visitors", async () => {
    vi.spyOn(nodeEnvironment, "isDevelopment", "get").mockReturnValue(false);
    const app = make({ ...guarded(), pages: undefined });
    await expect(app.listen(0)).rejects.toThrow(
      "This app has auth and serves pages, but cannot tell who visits them. Pass parley({ pages: { authorize } }).",
    );
  });
});

describe("app.listen", () => {
  const served = async (options: ListenOptions = {}, more: Partial<ParleyOptions> = {}) => {
    const app = make({ url: undefined, ...more });
    const { url } = await app.listen(0, options);
    return { app, origin: new URL(url).origin };
  };

  test("serves the pages, in development at its own address", async () => {
    const { app, origin } = await served();
    const asked = await ask(app, "resolve");
    const { url } = pageIn(asked);
    expect(new URL(url).origin).toBe(origin);
    expect(await (await fetch(url)).text()).toContain("How was it resolved?");
    const body = new URLSearchParams({ action: "accept", "f.how": "Fixed" });
    const sent = await fetch(url, { method: "POST", body, headers: { origin } });
    expect(await sent.text()).toContain("Saved");
    expect(textIn(await goOn(app, "resolve", asked))).toBe("Fixed -");
  });

  test("serves routes of the author before the pages, and checks their Origin", async () => {
    const routes = {
      "/thanks": () => new Response("Thanks!"),
      "/files/*": (request: Request) => new Response(new URL(request.url).pathname),
      "/*": () => new Response("everything"),
    } as const;
    const { origin } = await served({ routes });
    const at = async (path: string, init?: RequestInit) => {
      const response = await fetch(`${origin}${path}`, init);
      return [response.status, await response.text()];
    };
    expect(await at("/thanks")).toEqual([200, "Thanks!"]);
    expect(await at("/files/a/b")).toEqual([200, "/files/a/b"]);
    expect(await at("/ask/x")).toEqual([200, "everything"]);
    expect(await at("/healthz")).toEqual([200, "ok\n"]);
    const [status] = await at("/thanks", { headers: { origin: "https://evil.example" } });
    expect(status).toBe(403);
  });

  test("warns if a link is all it takes to answer", async () => {
    const warn = vi.fn();
    const logger = { ...quiet, warn };
    await served({}, { url: "https://desk.example.com", logger });
    expect(String(warn.mock.calls)).toContain("Anyone who has the link of a page can answer");
    warn.mockClear();
    await served({}, { logger });
    expect(warn).not.toHaveBeenCalled();
  });

  test("refuses a route that could never answer", async () => {
    const app = make();
    await expect(app.listen(0, { routes: { "/mcp": () => new Response("") } })).rejects.toThrow(
      'app.listen: the route "/mcp" is taken by the MCP endpoint. Choose another path.',
    );
  });

  test("app.pages.node leaves what is not its own to the next handler", async () => {
    const { app } = await served();
    const next = vi.fn();
    await app.pages.node({ url: "/other", method: "GET", headers: {} } as never, {} as never, next);
    expect(next).toHaveBeenCalledOnce();
    expect((await app.pages(new Request("http://localhost/other"))).status).toBe(404);
  });
});
