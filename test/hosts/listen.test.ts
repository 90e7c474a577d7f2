// app.listen: which requests it accepts, which it refuses, and how it closes.

import { once } from "node:events";
import { request as httpRequest } from "node:http";
import type { IncomingMessage } from "node:http";
import { connect, createServer } from "node:net";
import type { Socket } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { memoryStore, parley } from "mcp-parley";
import type { App, Logger } from "mcp-parley";
import { postgresStore } from "mcp-parley/postgres";
import { sqliteStore } from "mcp-parley/sqlite";
import type { Store } from "mcp-parley/store";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { readyFinding } from "../../src/cli/doctor/server-findings.ts";
import { overEntry } from "../entry.ts";
import { connectV1 } from "../interop/clients.ts";
import { keys, quiet } from "../interop/errands.ts";
import { People } from "../interop/people.ts";
import { patience } from "../patience.ts";
import { freshDatabase } from "../postgres/database.ts";
import { deferred } from "../wire/deferred.ts";
import { callTool, envelope, messagesIn, post, textIn } from "../wire/post.ts";
import { ask, begun as taskBegun, call, until } from "../wire/task-calls.ts";
import { keepingLogger } from "../wire/till.ts";
import { desk } from "./desk.ts";

async function listening(app: App = desk().app, ...args: Parameters<App["listen"]>) {
  const { url, close } = await app.listen(args[0] ?? 0, overEntry(args[1]));
  onTestFinished(() => app.close());
  return { url, close, port: Number(new URL(url).port) };
}

/** A request with headers that fetch would not send. */
async function raw(url: string, headers: Record<string, string>, method = "POST") {
  const request = httpRequest(url, { method, headers });
  request.end(method === "POST" ? "{}" : undefined);
  const [response] = (await once(request, "response")) as [IncomingMessage];
  response.resume();
  return response.statusCode;
}

describe("its responses", () => {
  test("/healthz says that the app is alive, to any caller", async () => {
    const { url } = await listening();
    const response = await fetch(new URL("/healthz", url));
    expect([response.status, await response.text()]).toEqual([200, "ok\n"]);
  });

  test("any path other than its own is not found", async () => {
    const { url } = await listening();
    expect((await fetch(new URL("/", url), { method: "POST" })).status).toBe(404);
    expect((await fetch(new URL("/mcp/more", url), { method: "POST" })).status).toBe(404);
  });

  test("a request line that is not a URL gets a response, and the app keeps serving", async () => {
    const { url, port } = await listening();
    const socket = connect(port, "127.0.0.1");
    socket.write("GET // HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    const [answer] = (await once(socket, "data")) as [Buffer];
    expect(answer.toString()).toMatch(/^HTTP\/1\.1 404 /);
    expect((await post(url, envelope("tools/list"))).status).toBe(200);
  });

  test("the app serves under the given path, with or without a query", async () => {
    const { url } = await listening(undefined, 0, { path: "/tools" });
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/tools$/);
    expect((await post(`${url}?tenant=1`, envelope("tools/list"))).status).toBe(200);
  });

  test("a Host other than this machine's is refused, so that no rebound name reaches the app [D17]", async () => {
    const { url } = await listening();
    expect(await raw(url, { host: "evil.example" })).toBe(403);
  });

  test("a Host that was allowed by name is accepted", async () => {
    const { url } = await listening(undefined, 0, { allowedHosts: ["desk.example"] });
    expect(await raw(url, { host: "desk.example", "content-type": "text/plain" })).toBe(415);
  });

  test.each(["http://evil.example", "https://evil.example:3000", "null", "nonsense"])(
    "a page of another origin (%s) gets 403 [S51] [D17]",
    async (origin) => {
      const { url } = await listening();
      const response = await post(url, envelope("tools/list"), { headers: { origin } });
      expect(response.status).toBe(403);
    },
  );

  test("a page of this machine, and a client that is not a page, are accepted", async () => {
    const { url } = await listening();
    const origin = "http://localhost:5173";
    expect((await post(url, envelope("tools/list"), { headers: { origin } })).status).toBe(200);
    expect((await post(url, envelope("tools/list"))).status).toBe(200);
  });

  test("a body over 4 MiB gets 413, and one under it is read", async () => {
    const { url } = await listening();
    const page = (bytes: number) =>
      envelope("tools/call", { name: "stamp", arguments: { page: "x".repeat(bytes) } });
    expect((await post(url, page(4 * 1024 * 1024))).status).toBe(413);
    expect((await post(url, page(3 * 1024 * 1024))).status).toBe(200);
  });

  test("a body over 4 MiB without a declared length gets 413 as well", async () => {
    const { url } = await listening();
    const request = httpRequest(url, {
      method: "POST",
      headers: { "content-type": "application/json", "transfer-encoding": "chunked" },
    });
    // The server may close the connection while the request is being sent.
    request.on("error", () => {});
    const answered = once(request, "response") as Promise<[IncomingMessage]>;
    const chunk = Buffer.alloc(256 * 1024, 0x20);
    for (let sent = 0; sent <= 5 * 1024 * 1024; sent += chunk.length) request.write(chunk);
    const [response] = await answered;
    expect(response.statusCode).toBe(413);
    request.destroy();
  });

  test("GET and DELETE without a session are refused [S59]", async () => {
    const { url } = await listening();
    expect((await fetch(url)).status).toBe(405);
    expect((await fetch(url, { method: "DELETE" })).status).toBe(405);
  });
});

describe("where it listens", () => {
  test("the app listens on the loopback address by default, and logs it [D17]", async () => {
    const lines: string[] = [];
    const note = (line: string) => void lines.push(line);
    const logger: Logger = { debug: note, info: note, warn: note, error: note };
    const { url } = await listening(desk({ logger }).app);
    expect(new URL(url).hostname).toBe("127.0.0.1");
    expect(lines).toEqual([`listening on ${url}`]);
  });

  test("an IPv6 address gives a usable URL", async () => {
    const { url } = await listening(undefined, 0, { host: "::1" });
    expect(url).toMatch(/^http:\/\/\[::1\]:\d+\/mcp$/);
    expect((await post(url, envelope("tools/list"))).status).toBe(200);
  });

  test("a port that is taken is an error that says what to do", async () => {
    const { port } = await listening();
    await expect(desk().app.listen(port)).rejects.toThrow(
      `Port ${port} is taken. Pass another port, or 0 for any free port.`,
    );
  });

  test("in production, the app does not start without keys [D6]", async () => {
    vi.stubEnv("NODE_ENV", "production");
    vi.stubEnv("PARLEY_KEYS", undefined);
    onTestFinished(() => void vi.unstubAllEnvs());
    const app = parley({ name: "keyless", version: "1.0.0" });
    await expect(app.listen(0)).rejects.toMatchObject({ code: "no_keys" });
  });
});

test("the worker of an app can be stopped and started again while the app serves", async () => {
  const store = memoryStore();
  const app = parley({ name: "baker", version: "1.0.0", keys, logger: quiet, store });
  const started = deferred();
  const heat = deferred<string>();
  let bodies = 0;
  app.tool("bake", { task: "required" }, async (ctx) => {
    await ctx.background();
    return ctx.step("heat", () => {
      bodies += 1;
      started.resolve();
      return heat.promise;
    });
  });
  app.tool("hello", {}, () => "hello");
  const { url } = await listening(app);
  const running = await taskBegun(url, "bake");
  await started.promise;
  const stopped = (await app.work()).stop();
  heat.resolve("hot");
  await stopped;
  // The outcome of the body is recorded, and no worker holds a task.
  expect(await app.health()).toMatchObject({ tasks: { held: 0 } });
  expect(textIn(await callTool(url, "hello"))).toBe("hello");
  const waiting = await taskBegun(url, "bake");
  expect((await ask(url, "tasks/get", waiting)).result).toMatchObject({ status: "working" });
  expect(bodies).toBe(1);
  await app.work();
  await until(url, running, "completed");
  await until(url, waiting, "completed");
  expect(bodies).toBe(2);
});

describe("a store that cannot be reached", () => {
  /** The address of a database behind a door that is shut. While it is shut, connections are refused. */
  async function database() {
    const { url } = await freshDatabase();
    const behind = new URL(url);
    const sockets = new Set<Socket>();
    const door = createServer((socket) => {
      const far = connect(Number(behind.port), behind.hostname);
      for (const one of [socket, far]) {
        sockets.add(one);
        one.on("error", () => {}).on("close", () => sockets.delete(one));
      }
      socket.pipe(far).pipe(socket);
    });
    const open = async (port: number) => {
      door.listen(port, "127.0.0.1");
      await once(door, "listening");
      const address = door.address();
      return typeof address === "object" && address !== null ? address.port : 0;
    };
    const shut = async () => {
      for (const socket of sockets) socket.destroy();
      if (!door.listening) return;
      door.close();
      await once(door, "close");
    };
    onTestFinished(shut);
    const port = await open(0);
    await shut();
    const address = new URL(url);
    address.host = `127.0.0.1:${port}`;
    return { url: address.href, open: () => open(port), shut };
  }

  function baker(store: Store) {
    const { logger, logged } = keepingLogger();
    const app = parley({ name: "baker", version: "1.0.0", keys, logger, store });
    app.tool("bake", { task: "required" }, async (ctx) => {
      await ctx.background();
      return "baked";
    });
    app.tool("hello", {}, () => "hello");
    onTestFinished(async () => {
      await app.close();
      await store.close();
    });
    return { app, logged };
  }

  test("does not keep the app from serving: it is not ready, keeps trying, and runs tasks when the store is there", async () => {
    const { url: address, open } = await database();
    const { app, logged } = baker(postgresStore(address, { leaseMs: 1_500 }));
    const { url } = await listening(app);
    expect(textIn(await callTool(url, "hello"))).toBe("hello");
    const readyz = () => fetch(new URL("/readyz", url));
    const ready = async () => (await readyz()).status;
    expect(await ready()).toBe(503);
    expect(await (await readyz()).text()).toBe("not ready: the store cannot be used\n");
    expect(await readyFinding(url)).toMatchObject({
      state: "wrong",
      text: "not ready: the store cannot be used. See the log of the server for the error.",
    });
    expect((await app.health()).problems.join()).toContain("cannot be reached");
    const refused = await call(url, "bake");
    expect(refused.error).toMatchObject({ code: -32603, data: { reason: "store_unavailable" } });
    await open();
    const task = await vi.waitFor(() => taskBegun(url, "bake"), patience);
    await until(url, task, "completed");
    await vi.waitFor(async () => expect(await ready()).toBe(200), patience);
    const storeLines = () =>
      logged.filter(({ level, message }) => level !== "debug" && message.includes("task store"));
    await vi.waitFor(() => expect(storeLines()).toHaveLength(3), patience);
    expect(storeLines().map(({ level, message }) => `${level}: ${message}`)).toEqual([
      expect.stringMatching(/^error: The task store failed: ./),
      expect.stringMatching(/^warn: The task store cannot be reached yet.*keeps trying\.$/),
      expect.stringMatching(
        /^info: The task store works again\. It was failing for \d+ seconds?\.$/,
      ),
    ]);
  });

  test("is logged once, and once when it works again, however many requests and workers meet it", async () => {
    const { url: address, open, shut } = await database();
    await open();
    const { app, logged } = baker(postgresStore(address, { leaseMs: 1_500 }));
    const { url } = await listening(app);
    const done = await taskBegun(url, "bake");
    await until(url, done, "completed");
    await shut();
    for (let number = 0; number < 20; number += 1) {
      const [refused, unread] = await Promise.all([call(url, "bake"), ask(url, "tasks/get", done)]);
      for (const { error } of [refused, unread])
        expect(error).toMatchObject({ data: { reason: "store_unavailable" } });
    }
    // The worker meets the outage as well, in its own time.
    const failures = () =>
      logged.filter(({ message }) => message.startsWith("The task store failed"));
    await vi.waitFor(() => expect(failures().length).toBeGreaterThan(40), patience);
    await open();
    await until(url, await vi.waitFor(() => taskBegun(url, "bake"), patience), "completed");
    const storeLines = () =>
      logged.filter(({ level, message }) => level !== "debug" && message.includes("store"));
    await vi.waitFor(() => expect(storeLines()).toHaveLength(2), patience);
    expect((await app.health()).tasks?.storeErrors).toBeGreaterThan(0);
    expect(storeLines()).toEqual([
      expect.objectContaining({
        level: "error",
        message: expect.stringMatching(/^The task store failed: ./),
      }),
      expect.objectContaining({
        level: "info",
        message: expect.stringMatching(/^The task store works again\./),
      }),
    ]);
    expect(Number(storeLines()[1]?.fields?.["failures"])).toBeGreaterThan(40);
  });

  test("does not keep app.work from starting either, and the app can close meanwhile", async () => {
    const { url, open } = await database();
    const { app } = baker(postgresStore(url));
    await app.work();
    await app.close();
    await app.work();
    await open();
    const task = await vi.waitFor(() => taskBegun(app, "bake"), patience);
    await until(app, task, "completed");
  });

  test("is not mistaken for a wrong configuration, which keeps the app from starting", async () => {
    const noFolder = fileURLToPath(import.meta.url);
    await expect(baker(sqliteStore(join(noFolder, "tasks.db"))).app.listen(0)).rejects.toThrow(
      /ENOTDIR|EEXIST/,
    );
    const { url } = await freshDatabase();
    const stranger = new URL(url);
    stranger.pathname = "/no_such_database";
    await expect(baker(postgresStore(stranger.href)).app.listen(0)).rejects.toThrow(
      "does not exist",
    );
  });
});

describe("how it ends", () => {
  /** An app whose one tool reports progress and runs until the test releases it. */
  function slow() {
    const app = parley({ name: "slow", version: "1.0.0", keys, logger: quiet });
    const begun = deferred<AbortSignal>();
    const letGo = deferred();
    app.tool("slow", {}, async (ctx) => {
      ctx.progress(1);
      await ctx.step("work", async ({ signal }) => {
        begun.resolve(signal);
        await letGo.promise;
      });
      return "done";
    });
    return { app, begun: begun.promise, letGo: letGo.resolve };
  }

  test.each([
    ["that responds in one piece", {}],
    ["that has already reported progress", { progressToken: 1 }],
  ])("the app waits for a request under way %s, and accepts no other", async (_, meta) => {
    const { app, begun, letGo } = slow();
    const { url } = await app.listen(0, overEntry());
    const answer = callTool(url, "slow", {}, { meta });
    const signal = await begun;
    const closed = app.close();
    expect(signal.aborted).toBe(false);
    await expect(fetch(url)).rejects.toThrow("fetch failed");
    letGo();
    expect(textIn(await answer)).toBe("done");
    await closed;
  });

  test("connections that are kept alive do not delay the end", async () => {
    const { app, begun, letGo } = slow();
    const { url } = await app.listen(0, overEntry());
    const answer = callTool(url, "slow");
    await begun;
    const closed = app.close();
    letGo();
    await answer;
    // An idle connection is kept for 75 seconds.
    const began = performance.now();
    await closed;
    expect(performance.now() - began).toBeLessThan(60_000);
  });

  test("one of two listeners can end while the other goes on", async () => {
    const { app } = desk();
    onTestFinished(() => app.close());
    const one = await app.listen(0, overEntry());
    const other = await app.listen(0, overEntry());
    await one.close();
    await expect(fetch(one.url)).rejects.toThrow("fetch failed");
    expect((await post(other.url, envelope("tools/list"))).status).toBe(200);
  });

  test("the app can listen again", async () => {
    const { app } = desk();
    await app.listen(0, overEntry());
    await app.close();
    const { url } = await app.listen(0, overEntry());
    onTestFinished(() => app.close());
    expect((await post(url, envelope("tools/list"))).status).toBe(200);
  });

  test("idle connections do not delay the end", async () => {
    const { app } = desk();
    const { url } = await app.listen(0, overEntry());
    await (await post(url, envelope("tools/list"))).text();
    await app.close();
    await expect(fetch(url)).rejects.toThrow("fetch failed");
  });

  test("an open subscription ends with a result, and is not cut off [S76]", async () => {
    const { app } = desk();
    const { url } = await app.listen(0, overEntry());
    const notifications = { toolsListChanged: true };
    const response = await post(url, envelope("subscriptions/listen", { notifications }));
    const stream = response.text();
    await app.close();
    const messages = messagesIn(await stream);
    expect(messages.at(0)).toMatchObject({
      method: "notifications/subscriptions/acknowledged",
    });
    expect(messages.at(-1)).toMatchObject({ id: 1, result: { resultType: "complete" } });
  });

  test("an open 2025-11-25 session does not delay the end", async () => {
    const { app } = desk();
    const { url } = await app.listen(0, overEntry());
    const client = await connectV1({ url }, new People());
    onTestFinished(() => client.close());
    expect(await client.tool("whoami")).toMatchObject({ text: "nobody" });
    await app.close();
  });
});

describe("an address that other machines can reach", () => {
  const warnings = async (options: object, host: string) => {
    const warn = vi.fn<Logger["warn"]>();
    const logger = { ...quiet, warn };
    const app = parley({ name: "desk", version: "1.0.0", keys, logger, ...options });
    await listening(app, 0, { host });
    await listening(app, 0, { host });
    return warn.mock.calls.map(([message]) => message);
  };

  test("causes one warning if the app has no auth", async () => {
    expect(await warnings({}, "0.0.0.0")).toEqual([
      "app.listen on 0.0.0.0 without auth: anyone who can reach this address can call every tool, and all of them count as one caller. Pass parley({ auth, principal }), or let something in front of the app verify callers.",
    ]);
  });

  test("causes no warning if the app has auth, or if only this machine can reach the address", async () => {
    const verifier = { verifyAccessToken: () => Promise.reject(new Error("nobody")) };
    expect(await warnings({ auth: { verifier }, principal: () => "ada" }, "0.0.0.0")).toEqual([]);
    expect(await warnings({}, "127.0.0.1")).toEqual([]);
  });
});
