// `ctx.connect` against a real authorization server: how a call gets an account, keeps it and loses it.

import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { memoryStore, parley, StepError, UnansweredError } from "mcp-parley";
import { oauth } from "mcp-parley/oauth";
import { sqliteStore } from "mcp-parley/sqlite";
import { describe, expect, test, vi } from "vitest";
import { newPath } from "../../src/tasks/stores/sqlite/folder.fixture.ts";
import { MemoryStore } from "../../src/tasks/stores/memory.ts";
import { patience } from "../patience.ts";
import { call as callTask, taskIdIn } from "../wire/task-calls.ts";
import { callTool, envelope, exchange, textIn } from "../wire/post.ts";
import { keys, quiet } from "../interop/errands.ts";
import { auth, done, linkIn, login, pages, principal, served, site, whoAmI } from "./served.ts";
import type { Tools } from "./served.ts";

test.each([true, false])("a person signs in once (metadata: %s)", async (hasMetadata) => {
  const { call, person, server, audit } = await served(whoAmI, { hasMetadata });
  const asked = await call("who", "ada");
  const link = linkIn(asked);
  expect(link).toMatch(`${site}/oauth/github/start/`);
  const shown = await person("ada").signIn(link, { as: "octo" });
  expect(shown).toMatchObject({ status: 200, text: expect.stringContaining("Connected") });
  expect(shown.url).toBe(link);
  expect(textIn(await call("who", "ada", done(asked)))).toBe("octo");
  expect(textIn(await call("who", "ada"))).toBe("octo");
  expect(server.grants).toEqual(["authorization_code"]);
  expect(audit.filter(({ action }) => action === "connected")).toMatchObject([
    { principal: "ada", key: "github", note: "github" },
  ]);
});

test("each person has an account of their own", async () => {
  const { call, person } = await served(whoAmI);
  for (const user of ["ada", "bob"]) {
    const asked = await call("who", user);
    await person(user).signIn(linkIn(asked), { as: `octo-${user}` });
    expect(textIn(await call("who", user, done(asked)))).toBe(`octo-${user}`);
  }
  expect(textIn(await call("who", "ada"))).toBe("octo-ada");
  expect(linkIn(await call("who", "eve"))).toContain("/start/");
});

test("connecting twice in a call gives one account, and a key asks again", async () => {
  const twice: Tools = (app, github) => {
    app.tool("twice", {}, async (ctx) => {
      const [one, other] = await Promise.all([ctx.connect(github), ctx.connect(github)]);
      await ctx.step("leave", () => app.disconnect("ada", github));
      const again = await ctx.connect(github, { key: "again", message: "Once more, please." });
      return JSON.stringify([one === other, one === again, again.provider]);
    });
  };
  const { call, person } = await served(twice);
  const first = await call("twice", "ada");
  await person("ada").signIn(linkIn(first));
  const second = await call("twice", "ada", done(first));
  expect(second.result?.["inputRequests"]).toMatchObject({
    again: { params: { message: "Once more, please." } },
  });
  await person("ada").signIn(linkIn(second, "again"));
  expect(textIn(await call("twice", "ada", done(second, "again")))).toBe(
    JSON.stringify([true, false, "github"]),
  );
});

/** Says what the handler got in place of an account. */
const caught: Tools = (app, github) => {
  app.tool("caught", {}, async (ctx) => {
    try {
      await ctx.connect(github);
      return "connected";
    } catch (error) {
      if (error instanceof UnansweredError) return `${error.reason}: ${error.message}`;
      return error instanceof Error ? `${error.name}: ${error.message}` : "?";
    }
  });
};

describe("ends in a clear page and a clear message", () => {
  test("if the person refuses", async () => {
    const { call, person } = await served(caught);
    const asked = await call("caught", "ada");
    const shown = await person("ada").signIn(linkIn(asked), { action: "deny" });
    expect(shown.text).toContain("You did not allow it.");
    expect(shown.text).not.toContain("alert(1)");
    expect(textIn(await call("caught", "ada", done(asked)))).toBe(
      'declined: Question "github" was declined.',
    );
  });

  test("if the provider refuses for good", async () => {
    const { call, person, log } = await served(caught);
    const asked = await call("caught", "ada");
    const shown = await person("ada").signIn(linkIn(asked), { action: "invalid_scope" });
    expect(shown).toMatchObject({
      status: 502,
      text: expect.stringContaining("It says: invalid_scope."),
    });
    expect(textIn(await call("caught", "ada", done(asked)))).toBe(
      'ParleyError: The account at "github" was not connected: the provider refused (invalid_scope). Check the options of oauth({ name: "github" }).',
    );
    expect(log()).toContain('Signing in at \\"github\\" failed: invalid_scope');
  });

  test("if the provider fails for now: the person tries again", async () => {
    const { call, person, server } = await served(caught);
    const asked = await call("caught", "ada");
    server.instead = (_req, res) => void res.writeHead(503).end("busy");
    const ada = person("ada");
    const shown = await ada.signIn(linkIn(asked));
    expect(shown).toMatchObject({
      status: 502,
      text: expect.stringContaining("You can try again."),
    });
    server.instead = undefined;
    const again = /href="([^"]+)"/.exec(shown.text)?.[1] ?? "";
    expect(await ada.open(again)).toMatchObject({ text: expect.stringContaining("Connected") });
    expect(textIn(await call("caught", "ada", done(asked)))).toBe("connected");
  });

  test("if there is a second tab: the first to finish connects, and both say so", async () => {
    const { call, person, server } = await served(caught);
    const asked = await call("caught", "ada");
    const ada = person("ada");
    const isCallback = (url: string) => url.includes("/callback?");
    const tab = await ada.signIn(linkIn(asked), { until: isCallback });
    const other = await ada.open(linkIn(asked), { until: isCallback });
    expect(other.url).not.toBe(tab.url);
    for (const { url } of [other, tab]) {
      expect((await ada.open(url)).text).toContain("Connected");
    }
    expect(server.grants).toHaveLength(1);
    expect(textIn(await call("caught", "ada", done(asked)))).toBe("connected");
  });

  test("if the callback is lost: the link begins again", async () => {
    const { call, person } = await served(caught);
    const asked = await call("caught", "ada");
    const ada = person("ada");
    await ada.signIn(linkIn(asked), { until: (url) => url.includes("/callback?") });
    const waiting = await call("caught", "ada", { requestState: asked.result?.["requestState"] });
    expect(waiting.result?.["resultType"]).toBe("input_required");
    expect((await ada.open(linkIn(waiting))).text).toContain("Connected");
    expect(textIn(await call("caught", "ada", done(waiting)))).toBe("connected");
  });

  test("if the call is over", async () => {
    const { call, person, app } = await served(caught, { app: { limits: { tokenTtlMs: 1 } } });
    const asked = await call("caught", "ada");
    expect(await person("ada").open(linkIn(asked))).toMatchObject({
      status: 404,
      text: expect.stringContaining("It is invalid or has expired."),
    });
    await app.close();
  });
});

test("an account is asked for again if the app needs more than it was granted", async () => {
  const store = new MemoryStore();
  const first = await served(whoAmI, { app: { store }, scope: ["repo"] });
  const asked = await first.call("who", "ada");
  await first.person("ada").signIn(linkIn(asked));
  expect(textIn(await first.call("who", "ada"))).toBe("ada");
  const second = await served(whoAmI, { app: { store }, scope: ["repo", "gist"] });
  expect(linkIn(await second.call("who", "ada"))).toContain("/start/");
});

test("that the person has signed in counts only while there is a token", async () => {
  const { app, call, person, github } = await served(whoAmI);
  const asked = await call("who", "ada");
  const ada = person("ada");
  expect((await ada.signIn(linkIn(asked))).text).toContain("Connected");
  await app.disconnect("ada", github);
  const again = await call("who", "ada", done(asked));
  expect(linkIn(again)).not.toBe(linkIn(asked));
  expect((await ada.signIn(linkIn(again))).text).toContain("Connected");
  expect(textIn(await call("who", "ada", done(again)))).toBe("ada");
});

describe("an access token", () => {
  test("that has expired is renewed, once for all who wait", async () => {
    const many: Tools = (app, github, api) => {
      app.tool("many", {}, async (ctx) => {
        const account = await ctx.connect(github);
        const who = ["a", "b", "c"].map((key) =>
          ctx.step(key, async () => login(api, await account.accessToken())),
        );
        return (await Promise.all(who)).join();
      });
    };
    const { call, person, server } = await served(many, {
      server: { tokenSeconds: 1, rotates: true },
    });
    const asked = await call("many", "ada");
    await person("ada").signIn(linkIn(asked));
    await vi.waitFor(async () => {
      // A token that has expired is renewed before it is used, so nobody sees a refusal.
      expect(textIn(await call("many", "ada", done(asked)))).toBe("ada,ada,ada");
      expect(server.grants).toContain("refresh_token");
    }, patience);
  });

  test("that the provider no longer renews ends with not_connected, and asking again works", async () => {
    const lost: Tools = (app, github) => {
      app.tool("lost", {}, async (ctx) => {
        const account = await ctx.connect(github);
        try {
          return await ctx.step("use", async () => String((await account.accessToken()).length));
        } catch (error) {
          if (!(error instanceof StepError) || error.code !== "not_connected") throw error;
          await ctx.connect(github, { key: "github-again", message: error.message });
          return "again";
        }
      });
    };
    const { call, person, server } = await served(lost, { server: { tokenSeconds: 1 } });
    const asked = await call("lost", "ada");
    const ada = person("ada");
    await ada.signIn(linkIn(asked));
    server.instead = (_req, res) =>
      void res
        .writeHead(400, { "content-type": "application/json" })
        .end('{"error":"invalid_grant"}');
    const again = await vi.waitFor(async () => {
      const answer = await call("lost", "ada", done(asked));
      expect(answer.result?.["inputRequests"]).toMatchObject({
        "github-again": {
          params: {
            message:
              'The account at "github" can no longer be used: the provider refused to renew it (invalid_grant). Ask again with ctx.connect(github, { key: "github-again" }).',
          },
        },
      });
      return answer;
    }, patience);
    server.instead = undefined;
    await ada.open(linkIn(again, "github-again"));
    expect(textIn(await call("lost", "ada", done(again, "github-again")))).toBe("again");
  });

  test("is deleted and revoked by app.disconnect", async () => {
    let token = "";
    const remember: Tools = (app, github, api) => {
      app.tool("who", {}, async (ctx) => {
        const account = await ctx.connect(github);
        return ctx.step("who", async () => login(api, (token = await account.accessToken())));
      });
    };
    const { app, call, person, github, server, audit } = await served(remember);
    expect(await app.disconnect("ada", github)).toBe(false);
    const asked = await call("who", "ada");
    await person("ada").signIn(linkIn(asked));
    expect(textIn(await call("who", "ada"))).toBe("ada");
    expect(await app.disconnect("ada", github)).toBe(true);
    expect(await app.disconnect("ada", github)).toBe(false);
    expect(await login(`${server.issuer}/api`, token)).toBe("HTTP 401");
    expect(linkIn(await call("who", "ada"))).toContain("/start/");
    expect(audit.filter(({ action }) => action === "disconnected")).toMatchObject([
      { principal: "ada", note: "github" },
    ]);
  });
});

test("in a task the question waits for the page, whatever the client says", async () => {
  const later: Tools = (app, github, api) => {
    app.tool("later", { task: "required" }, async (ctx) => {
      await ctx.background();
      const account = await ctx.connect(github);
      return ctx.step("who", async () => login(api, await account.accessToken()));
    });
  };
  const { app, person } = await served(later);
  await app.work();
  const headers = { authorization: "Bearer ada" };
  const id = taskIdIn(await callTask(app, "later", {}, { headers }));
  const task = (method: string, more: object = {}) =>
    exchange(
      app,
      envelope(
        method,
        { taskId: id, ...more },
        {
          capabilities: {
            extensions: { "io.modelcontextprotocol/tasks": {} },
            elicitation: { url: {} },
          },
        },
      ),
      { headers },
    );
  const asks = async () => {
    const { result } = await task("tasks/get");
    expect(result).toMatchObject({ status: "input_required" });
    const [[wire, request] = []] = Object.entries(result?.["inputRequests"] ?? {});
    return { wire: String(wire), url: String((request as { params: { url: string } }).params.url) };
  };
  const { wire, url } = await vi.waitFor(asks, patience);
  await task("tasks/update", { inputResponses: { [wire]: { action: "accept" } } });
  expect((await asks()).url).toBe(url);
  expect((await person("ada").signIn(url)).text).toContain("Connected");
  await vi.waitFor(async () => {
    const { result } = await task("tasks/get");
    expect(result).toMatchObject({ status: "completed", result: { content: [{ text: "ada" }] } });
  }, patience);
});

test("a client that cannot be asked passes the link on, and continues the call", async () => {
  const { call, person, app } = await served(whoAmI, { app: { relay: true } });
  const capabilities = {};
  const paused = await call("who", "ada", { capabilities });
  const text = textIn(paused);
  const link = /https:\/\/tools\.example\/oauth\/github\/start\/[\w.~-]+/.exec(text)?.[0] ?? "";
  expect((await person("ada").signIn(link)).text).toContain("Connected");
  const handle = /"call":"(\w+)"/.exec(text)?.[1];
  const params = { name: "continue_call", arguments: { call: handle } };
  const answer = await exchange(app, envelope("tools/call", params, { capabilities }), {
    headers: { authorization: "Bearer ada" },
  });
  expect(textIn(answer)).toBe("ada");
});

test("a client that opens no pages is told so", async () => {
  const { call } = await served(whoAmI);
  const { error } = await call("who", "ada", { capabilities: { elicitation: { form: {} } } });
  expect(error?.message).toBe(
    'Question "github" of "who" was not asked: it needs a page to sign in on, and this client opens none. The question is: "Sign in to connect your account at GitHub.".',
  );
});

test("the store holds no token that can be read", async () => {
  const path = newPath();
  const folder = dirname(path);
  const { call, person } = await served(whoAmI, {
    app: { store: sqliteStore(path) },
  });
  let token = "";
  const asked = await call("who", "ada");
  await person("ada").signIn(linkIn(asked));
  const original = globalThis.fetch;
  const spy = vi.spyOn(globalThis, "fetch").mockImplementation((url, init) => {
    token = /Bearer (.+)/.exec(new Headers(init?.headers).get("authorization") ?? "")?.[1] ?? token;
    return original(url, init);
  });
  try {
    expect(textIn(await call("who", "ada", done(asked)))).toBe("ada");
  } finally {
    spy.mockRestore();
  }
  expect(token.length).toBeGreaterThan(20);
  for (const name of readdirSync(folder)) {
    expect(readFileSync(join(folder, name)).includes(token)).toBe(false);
  }
});

test("what a step must not record", async () => {
  const leaky: Tools = (app, github) => {
    app.tool("returns", {}, async (ctx) => {
      const account = await ctx.connect(github);
      const token = await ctx.step("star", async () => ({
        list: [`Bearer ${await account.accessToken()}`],
      }));
      return JSON.stringify(token);
    });
    app.tool("throws", {}, async (ctx) => {
      const account = await ctx.connect(github);
      return ctx.step("star", async () => {
        throw new Error(`GET /?token=${await account.accessToken()} failed`);
      });
    });
  };
  const { call, person, log } = await served(leaky);
  const asked = await call("returns", "ada");
  await person("ada").signIn(linkIn(asked));
  const { error } = await call("returns", "ada", done(asked));
  expect(error).toMatchObject({ data: { reason: "bad_result" } });
  expect(error?.message).toBe(
    'Step "star" returned the access token of "github". What a step returns is recorded: use the token inside the step.',
  );
  expect(textIn(await call("throws", "ada"))).toBe("GET /?token=[access token] failed");
  expect(log()).toContain("[access token]");
  expect(log()).not.toMatch(/token=[^[]/);
});

describe("an app says what its connections lack", () => {
  const github = oauth({ name: "github", issuer: "https://id.example", clientId: "id" });
  const options = { name: "stars", version: "1.0.0", keys, logger: quiet, connections: [github] };

  test("callers who are known", async () => {
    const app = parley({ ...options, url: site, store: memoryStore() });
    await expect(app.listen(0)).rejects.toMatchObject({
      code: "no_auth",
      message:
        "parley({ connections }) without auth would give every caller the same account. Pass auth and principal, or serve the app over stdio.",
    });
    app.tool("who", {}, async (ctx) => (await ctx.connect(github)).provider);
    const { error } = await callTool(app, "who");
    expect(error).toMatchObject({ data: { reason: "no_auth" } });
  });

  test("an address to come back to", async () => {
    const app = parley({ ...options, auth, principal, store: memoryStore() });
    const lacking = {
      code: "no_url",
      message:
        'parley({ connections }) needs the address that the provider sends people back to. Pass parley({ url: "https://…" }).',
    };
    await expect(app.listen(0, { host: "0.0.0.0" })).rejects.toMatchObject(lacking);
    await expect(app.stdio()).rejects.toMatchObject(lacking);
    app.tool("who", {}, async (ctx) => (await ctx.connect(github)).provider);
    const headers = { authorization: "Bearer ada" };
    const { error } = await callTool(app, "who", {}, { headers });
    expect(error).toMatchObject({ data: { reason: "no_url" } });
  });

  test("a store", async () => {
    const app = parley({ ...options, auth, principal, url: site, pages });
    await expect(app.listen(0, { host: "0.0.0.0" })).rejects.toMatchObject({ code: "no_store" });
  });

  test("a store that keeps accounts", async () => {
    const store = Object.assign(new MemoryStore(), { accounts: undefined });
    const { call } = await served(whoAmI, { app: { store } });
    expect(textIn(await call("who", "ada"))).toContain('this one ("memory") has no accounts');
  });

  test("a name that can be part of an address, and is used once", () => {
    const named = (name: string) => oauth({ name, issuer: "https://id.example", clientId: "id" });
    expect(() => named("git hub")).toThrow(
      'oauth({ name: "git hub" }): the name is part of an address. Use letters, digits, "-" and "_".',
    );
    expect(() => parley({ ...options, connections: [github, named("github")] })).toThrow(
      'parley({ connections }) has two providers named "github". Give each its own name.',
    );
  });

  test("an address that tokens can be sent to", () => {
    expect(() => oauth({ name: "x", issuer: "http://id.example", clientId: "id" })).toThrow(
      'oauth({ name: "x" }): issuer has to be an https address. Tokens would otherwise travel in the clear.',
    );
  });
});
