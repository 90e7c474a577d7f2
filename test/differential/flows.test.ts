// Flows of more than one request: calls that continue at the other entry, tasks, connections with several requests, and
// the few differences between the entries that are intended.

import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { once } from "node:events";
import { describe, expect, onTestFinished, test } from "vitest";
import type { App } from "mcp-parley";
import { z } from "zod";
import { deferred } from "../wire/deferred.ts";
import { authenticated, everything, verifyAccessToken } from "./app.ts";
import { comparable, isFast } from "./compare.ts";
import { bytesOf, exchanged, sent } from "./raw.ts";
import type { Came, Sent } from "./raw.ts";
import { draftOf, finished, task, tool } from "./requests.ts";
import type { Request } from "./requests.ts";

interface Ports {
  readonly fast: number;
  readonly sdk: number;
}

async function both(app: App): Promise<Ports> {
  onTestFinished(() => app.close());
  const [fast, sdk] = await Promise.all([app.listen(0), app.listen(0, { fast: false })]);
  return { fast: Number(new URL(fast.url).port), sdk: Number(new URL(sdk.url).port) };
}

const bytes = (request: Request): Sent => finished(draftOf(request));

async function came(port: number, request: Request | Sent): Promise<Came> {
  const response = await sent(port, "method" in request ? bytes(request) : request);
  if (typeof response === "string") throw new Error(response);
  return response;
}

// oxlint-disable-next-line typescript/no-explicit-any -- whatever it is, a test says
const bodyOf = ({ body }: Came): any => body;

const again = (request: Request, params: object, more: Partial<Request> = {}): Request => ({
  ...request,
  params: { ...request.params, ...params },
  ...more,
});

describe("a call in rounds", () => {
  const first = tool("ask", { text: "a" });
  const inputResponses = { name: { action: "accept", content: { name: "Ada" } } };

  test.each([
    ["fast", "sdk"],
    ["sdk", "fast"],
    ["fast", "fast"],
  ] as const)("a call that begins at the %s entry continues at the %s one", async (one, other) => {
    const ports = await both(everything());
    const { requestState } = bodyOf(await came(ports[one], first)).result;
    const second = bodyOf(await came(ports[other], again(first, { requestState, inputResponses })));
    expect(Object.keys(second.result.inputRequests)).toEqual(["sure"]);
    const sure = { sure: { action: "accept", content: { sure: true } } };
    const answers = { requestState: second.result.requestState, inputResponses: sure };
    const last = bodyOf(await came(ports[one], again(first, answers)));
    expect(last.result.content).toEqual([{ type: "text", text: "Ada true" }]);
  });

  test.each([
    { action: "accept", content: { name: "Ada" }, method: "elicitation/create" },
    { action: "accept", content: { name: "Ada" }, result: {} },
    { action: "accept", content: { name: "Ada" }, more: 1 },
    { action: "accept", content: { name: "\ud800" } },
    { action: "accept", content: { name: "x".repeat(100_000) } },
    { action: "accept", content: { name: 1e300 } },
    JSON.parse('{"action":"accept","content":{"__proto__":{"name":"Eve"},"name":"Ada"}}'),
    JSON.parse('{"__proto__":{"action":"accept"},"action":"decline"}'),
    JSON.parse(`{"action":"accept","content":{"name":${"[".repeat(1_000)}${"]".repeat(1_000)}}}`),
    { method: "elicitation/create", result: { action: "accept", content: { name: "Ada" } } },
  ])("parses the answer %# alike at both entries", async (answer: object) => {
    const ports = await both(everything());
    const { requestState } = bodyOf(await came(ports.fast, first)).result;
    const second = again(first, { requestState, inputResponses: { name: answer } });
    const [fast, sdk] = [await came(ports.fast, second), await came(ports.sdk, second)];
    expect(comparable(fast)).toEqual(comparable(sdk));
  });

  test("a call of a handler without arguments continues, whatever arguments were sent", async () => {
    const ports = await both(everything());
    const asking = tool("ask_by_hand", { not: "wanted" });
    const { requestState } = bodyOf(await came(ports.fast, asking)).result;
    const form = { form: { action: "accept", content: { name: "Ada" } } };
    const second = again(asking, { requestState, inputResponses: form });
    const [fast, sdk] = [await came(ports.fast, second), await came(ports.sdk, second)];
    expect(fast).toMatchObject({ status: 200, body: { result: { resultType: "complete" } } });
    expect(comparable(fast)).toEqual(comparable(sdk));
  });

  test("is refused alike when a later request no longer declares the capability", async () => {
    const ports = await both(everything());
    const { requestState } = bodyOf(await came(ports.fast, first)).result;
    const second = again(first, { requestState, inputResponses }, { capabilities: {} });
    const [fast, sdk] = [await came(ports.fast, second), await came(ports.sdk, second)];
    expect(comparable(fast)).toEqual(comparable(sdk));
    expect(fast).toMatchObject({ status: 400, body: { error: { code: -32_021 } } });
  });
});

test("a task behaves alike at both entries", async () => {
  const ports = await both(everything());
  const made = await came(ports.fast, tool("task"));
  const { taskId } = bodyOf(made).result;
  const requests = [
    task("get", { taskId }),
    task("update", { taskId, inputResponses: { nobody: {} } }),
    task("update", { taskId, inputResponses: { nobody: { method: "x" } } }),
    task("cancel", { taskId }),
    task("get", { taskId }),
  ];
  await expect
    .poll(async () => bodyOf(await came(ports.fast, task("get", { taskId }))).result.status)
    .toBe("completed");
  for (const request of requests) {
    const [fast, sdk] = [await came(ports.fast, request), await came(ports.sdk, request)];
    expect(comparable(fast)).toEqual(comparable(sdk));
  }
});

describe("a connection", () => {
  const several = [
    tool("echo", { text: "one" }),
    tool("progress", {}, { meta: { progressToken: 1 } }),
    tool("nobody"),
    tool("ask", { text: "a" }),
    tool("echo", { text: "five" }),
  ];
  const kept = (request: Request): Buffer => {
    const draft = bytes(request);
    return bytesOf({ ...draft, headers: draft.headers.filter(([name]) => name !== "connection") });
  };

  test("carries requests that do not wait for one another, with responses in order", async () => {
    const ports = await both(everything());
    const all = Buffer.concat(several.map(kept));
    const [fast, sdk] = await Promise.all(
      [ports.fast, ports.sdk].map((port) => exchanged(port, all, several.length)),
    );
    if (typeof fast !== "object" || typeof sdk !== "object") throw new Error("no responses");
    expect(fast.map(comparable)).toEqual(sdk.map(comparable));
    expect(fast.map(isFast)).toEqual([true, false, false, true, true]);
  });
});

test.each([true, false])(
  "app.close waits for every call that is under way (fast: %s)",
  async (fast) => {
    const app = everything();
    const gates = [deferred(), deferred()];
    const begun = [deferred(), deferred()];
    const inputSchema = z.object({ at: z.int() });
    app.tool("wait", { inputSchema }, async ({ at }) => {
      begun[at]?.resolve();
      await gates[at]?.promise;
      return "let go";
    });
    onTestFinished(() => app.close());
    const { url } = await app.listen(0, { fast });
    const port = Number(new URL(url).port);
    const calls = [0, 1].map((at) => came(port, tool("wait", { at })));
    await Promise.all(begun.map(({ promise }) => promise));
    const closed = app.close();
    gates[0]?.resolve();
    expect((await calls[0])?.status).toBe(200);
    gates[1]?.resolve();
    expect((await calls[1])?.status).toBe(200);
    await closed;
  },
);

describe("credentials", () => {
  test.each(["ada", "eve"])("are checked once, whichever entry serves: %s", async (bearer) => {
    const asked: string[] = [];
    const verify = async (token: string) => {
      asked.push(token);
      return verifyAccessToken(token);
    };
    const ports = await both(everything(authenticated(verify)));
    for (const request of [tool("facts"), tool("nobody"), tool("full_bad_image")]) {
      asked.length = 0;
      await came(ports.fast, { ...request, bearer });
      expect(asked).toEqual([bearer]);
    }
  });
});

describe("what an author configures on the official server", () => {
  const plain = tool("echo", { text: "a" });

  test.each<[string, (app: App) => void]>([
    [
      "another handler for the method",
      (app) =>
        app.onServer(({ server }) =>
          server.setRequestHandler("tools/call", () => ({
            content: [{ type: "text", text: "theirs" }],
          })),
        ),
    ],
    [
      "a wrapper around every message",
      (app) =>
        app.onServer((server) => {
          const connect = server.connect.bind(server);
          server.connect = async (transport) => {
            const send = transport.send.bind(transport);
            transport.send = (message, options) =>
              send(
                "result" in message ? { ...message, result: { theirs: true } } : message,
                options,
              );
            await connect(transport);
          };
        }),
    ],
    [
      "a configuration error",
      (app) =>
        app.onServer(() => {
          throw new Error("It does not work");
        }),
    ],
  ])("%s applies at both entries, even if it is set late", async (_, configure) => {
    const app = everything();
    const ports = await both(app);
    expect(isFast(await came(ports.fast, plain))).toBe(true);
    configure(app);
    const [fast, sdk] = [await came(ports.fast, plain), await came(ports.sdk, plain)];
    expect(comparable(fast)).toEqual(comparable(sdk));
    expect(isFast(fast)).toBe(false);
  });

  test("a tool that is added late is served at both entries", async () => {
    const app = everything();
    const ports = await both(app);
    await came(ports.fast, plain);
    app.tool("late", {}, () => "there");
    const [fast, sdk] = [await came(ports.fast, tool("late")), await came(ports.sdk, tool("late"))];
    expect(comparable(fast)).toEqual(comparable(sdk));
    expect(isFast(fast)).toBe(true);
  });
});

test("closing the app ends what runs in a host of its own", async () => {
  const app = everything();
  const running = deferred<AbortSignal>();
  app.tool("wait", {}, ({ signal }) => {
    running.resolve(signal);
    return new Promise(() => {});
  });
  const server = createServer((req, res) => void app.node(req, res));
  onTestFinished(() => void server.close());
  await once(server.listen(0, "127.0.0.1"), "listening");
  const answer = came((server.address() as AddressInfo).port, tool("wait"));
  const signal = await running.promise;
  await app.close();
  expect(signal.aborted).toBe(true);
  expect((await answer).status).toBe(499);
});

/** The intended differences between the entries. */
describe("deliberate differences", () => {
  test("a body that turns out too large gets its 413, while the SDK cuts the connection before", async () => {
    const ports = await both(everything());
    const draft = bytes(tool("echo", { text: "x".repeat(4_500_000) }));
    const fast = await sent(ports.fast, { ...draft, chunkBytes: 60_000 });
    expect(fast).toMatchObject({ status: 413, headers: { connection: "close" } });
    expect(await sent(ports.sdk, { ...draft, chunkBytes: 60_000 })).not.toMatchObject({
      status: 200,
    });
  });

  test("a body that is too large only by white space gets its 413, too", async () => {
    const ports = await both(everything());
    const draft = bytes(tool("echo", { text: "a" }));
    const body = `${String(draft.body)}${" ".repeat(4_500_000)}`;
    const fast = await sent(ports.fast, { ...draft, body, chunkBytes: 60_000 });
    expect(fast).toMatchObject({ status: 413, headers: { connection: "close" } });
  });

  test("a result that is not JSON is an error, while the SDK never responds", async () => {
    const app = everything();
    app.tool("big", {}, () => ({ content: [], structuredContent: { n: 1n } }));
    const ports = await both(app);
    expect(await came(ports.fast, tool("big"))).toMatchObject({
      status: 200,
      body: { id: 1, error: { code: -32_603 } },
    });
  });
});
