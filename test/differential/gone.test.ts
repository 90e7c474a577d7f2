// Clients that disconnect at every possible moment: their work stops, and nothing waits for them.

import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { connect } from "node:net";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import type { App } from "mcp-parley";
import { deferred } from "../wire/deferred.ts";
import { authenticated, everything, verifyAccessToken } from "./app.ts";
import { bytesOf, sent } from "./raw.ts";
import { draftOf, finished, tool } from "./requests.ts";
import type { Request } from "./requests.ts";

/** The request as bytes, on a connection that stays open. */
function kept(request: Request): Buffer {
  const { headers, ...rest } = finished(draftOf(request));
  return bytesOf({ ...rest, headers: headers.filter(([name]) => name !== "connection") });
}

async function connected(port: number): Promise<Socket> {
  const socket = connect(port, "127.0.0.1");
  onTestFinished(() => void socket.destroy());
  await once(socket, "connect");
  return socket;
}

async function portOf(app: App, fast: boolean): Promise<number> {
  onTestFinished(() => app.close());
  return Number(new URL((await app.listen(0, { fast })).url).port);
}

/** An app with a tool that waits until it is stopped, and a record of its calls. */
function waiting(app: App, count = 1) {
  const signals: AbortSignal[] = [];
  const begun = deferred();
  app.tool("wait", {}, (ctx) => {
    ctx.progress(1);
    if (signals.push(ctx.signal) === count) begun.resolve();
    return new Promise(() => {});
  });
  return { signals, begun: begun.promise };
}

const ended = (signal: AbortSignal | undefined) =>
  new Promise<void>((resolve) => {
    if (signal?.aborted === true) resolve();
    else signal?.addEventListener("abort", () => resolve());
  });

describe.each([true, false])("fast: %s", (fast) => {
  test.each([
    ["before anything is sent", {}],
    ["in the middle of a stream", { progressToken: 1 }],
  ])("a client that disconnects %s ends its calls", async (_, meta) => {
    const app = everything();
    const { signals, begun } = waiting(app);
    const socket = await connected(await portOf(app, fast));
    socket.write(kept(tool("wait", {}, { meta })));
    await begun;
    if ("progressToken" in meta) await once(socket, "data");
    socket.destroy();
    await ended(signals[0]);
    await app.close();
  });

  test("nothing more is written to a stream whose reader has gone", async () => {
    const [begun, over] = [
      vi.spyOn(globalThis, "setInterval"),
      vi.spyOn(globalThis, "clearInterval"),
    ];
    onTestFinished(() => void vi.restoreAllMocks());
    const app = everything();
    const running = waiting(app);
    const socket = await connected(await portOf(app, fast));
    socket.write(kept(tool("wait", {}, { meta: { progressToken: 1 } })));
    await running.begun;
    await once(socket, "data");
    const timers = begun.mock.results.map(({ value }) => value as NodeJS.Timeout);
    expect(timers.length).toBeGreaterThan(0);
    socket.destroy();
    await expect.poll(() => timers.filter((timer) => !isCleared(timer))).toEqual([]);

    function isCleared(timer: NodeJS.Timeout): boolean {
      return over.mock.calls.some(([one]) => one === timer);
    }
  });

  test("a client that disconnects with its body half sent leaves nothing behind", async () => {
    const app = everything();
    const socket = await connected(await portOf(app, fast));
    const bytes = kept(tool("echo", { text: "a" }));
    socket.write(Buffer.concat([bytes, bytes.subarray(0, -5)]));
    await once(socket, "data");
    socket.destroy();
    await app.close();
  });

  test("a client with several requests at once ends them all, without a warning of a leak", async () => {
    const warnings: string[] = [];
    const onWarning = ({ name }: Error) => void warnings.push(name);
    process.on("warning", onWarning);
    onTestFinished(() => void process.off("warning", onWarning));
    const app = everything();
    const { signals, begun } = waiting(app, 12);
    const socket = await connected(await portOf(app, fast));
    socket.write(Buffer.concat(Array.from({ length: 12 }, () => kept(tool("wait")))));
    await begun;
    socket.destroy();
    await Promise.all(signals.map(ended));
    await app.close();
    expect(warnings).toEqual([]);
  });

  test("a response that waited for another one does not stop the app from closing", async () => {
    const app = everything();
    const { signals, begun } = waiting(app);
    const answered = deferred();
    app.tool("answers", {}, () => {
      answered.resolve();
      return "an answer";
    });
    const socket = await connected(await portOf(app, fast));
    socket.write(Buffer.concat([kept(tool("wait")), kept(tool("answers"))]));
    await Promise.all([begun, answered.promise]);
    socket.destroy();
    await ended(signals[0]);
    await app.close();
  });
});

describe("in a host of its own", () => {
  async function hosted(serve: Parameters<typeof createServer>[1]): Promise<number> {
    const server = createServer(serve ?? (() => {}));
    onTestFinished(() => void server.close().closeAllConnections());
    await once(server.listen(0, "127.0.0.1"), "listening");
    return (server.address() as AddressInfo).port;
  }

  test("a client that disconnects before the app gets its request is not waited for", async () => {
    const app = everything();
    const [arrived, over] = [deferred(), deferred()];
    const port = await hosted((req, res) => {
      req.on("error", () => {}).once("close", () => void app.node(req, res).then(over.resolve));
      arrived.resolve();
    });
    const socket = await connected(port);
    socket.write(kept(tool("bare")).subarray(0, -5));
    await arrived.promise;
    socket.destroy();
    await over.promise;
  });

  /** An app that verifies callers only when the test says so. */
  function guarded() {
    const [asked, letIn] = [deferred(), deferred()];
    let runs = 0;
    const app = everything(
      authenticated(async (token) => {
        asked.resolve();
        await letIn.promise;
        return verifyAccessToken(token);
      }),
    );
    app.tool("count", {}, () => `${(runs += 1)}`);
    return { app, asked: asked.promise, letIn, runs: () => runs };
  }

  const counting = tool("count", {}, { bearer: "ada" });

  test("nothing runs for a client that disconnects while it is verified", async () => {
    const { app, asked, letIn, runs } = guarded();
    const [gone, over] = [deferred(), deferred()];
    const port = await hosted((req, res) => {
      res.once("close", gone.resolve);
      void app.node(req, res).then(over.resolve);
    });
    const socket = await connected(port);
    socket.write(kept(counting));
    await asked;
    socket.destroy();
    await gone.promise;
    letIn.resolve();
    await over.promise;
    expect(runs()).toBe(0);
  });

  test("nothing runs if the app is closed in the meantime", async () => {
    const { app, asked, letIn, runs } = guarded();
    const port = await hosted((req, res) => void app.node(req, res));
    const answer = sent(port, finished(draftOf(counting)));
    await asked;
    await app.close();
    letIn.resolve();
    expect(await answer).toMatchObject({ status: 499 });
    expect(runs()).toBe(0);
  });
});
