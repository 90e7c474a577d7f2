// The functions as AWS Lambda calls them: each invocation in an instance of its own, which is gone when it has returned.

import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build } from "esbuild";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { freshDatabase } from "../../test/postgres/database.ts";
import type { Database } from "../../test/postgres/database.ts";
import {
  cakeIn,
  officialClient,
  taskClient,
  textOf,
  untilEnd,
  untilStatus,
} from "../bakery-client.ts";
import { requestOf, resultOf } from "./http.ts";
import type { HttpEvent } from "./http.ts";
import { functionUrl, invoke } from "./local.ts";
import type { Deployment } from "./local.ts";

const folder = mkdtempSync(join(tmpdir(), "lambda-"));
let database: Database;

beforeAll(async () => {
  database = await freshDatabase();
  await build({
    entryPoints: ["function.ts", "stream.ts"].map((name) => join(import.meta.dirname, name)),
    bundle: true,
    platform: "node",
    outdir: folder,
    outExtension: { ".js": ".cjs" },
    external: ["esbuild"],
    logOverride: { "empty-import-meta": "silent" },
  });
});
afterAll(async () => {
  await database.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** As EventBridge sends it. */
const scheduled = {
  version: "0",
  id: "53dc4d37-cffa-4f76-80c9-8b7d4a4d2eaa",
  "detail-type": "Scheduled Event",
  source: "aws.events",
  account: "123456789012",
  time: "2026-11-16T22:00:00Z",
  region: "us-east-1",
  resources: ["arn:aws:events:us-east-1:123456789012:rule/worker"],
  detail: {},
};

async function deployed(handler: Deployment["handler"] = "http") {
  const deployment: Deployment = {
    file: join(folder, handler === "http" ? "function.cjs" : "stream.cjs"),
    handler,
    env: { DATABASE_URL: database.url, PARLEY_KEYS: `test:${"A".repeat(43)}` },
    timeoutMs: 300_000,
  };
  const server = functionUrl(deployment);
  await once(server.listen(0, "127.0.0.1"), "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
    runDue: () =>
      invoke({ ...deployment, file: join(folder, "function.cjs") }, "worker", scheduled),
  };
}

/** A message that is not part of a call. */
const post = (url: string, method: string, more: object = {}) =>
  fetch(url, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      "mcp-protocol-version": "2026-07-28",
      "mcp-method": method,
    },
    body: JSON.stringify({ jsonrpc: "2.0", method, ...more }),
  });

describe("a buffered function with a worker on a schedule", () => {
  test("serves each round of a call in another instance", async () => {
    const { url } = await deployed();
    const client = await officialClient(url);
    const text = await textOf(client.callTool({ name: "order_bread" }));
    expect(text).toMatch(/^3 × rye, order-./);
  });

  test("serves a task that the worker runs, and its client follows", async () => {
    const { url, runDue } = await deployed();
    const client = await officialClient(url);
    const call = client.callTool({ name: "bake_cake", arguments: { flavour: "lemon" } });
    const text = await textOf(untilEnd(call, runDue));
    expect(text).toMatch(/^lemon-[\w-]+ says "Happy birthday"$/);
  });

  test("keeps a task until the worker runs it, and an answer until the next one", async () => {
    const { url, runDue } = await deployed();
    const { taskId = "" } = await taskClient(url).start("bake_cake", { flavour: "plum" });
    expect(await taskClient(url).task(taskId)).toMatchObject({ status: "working" });
    const task = await untilStatus(taskClient(url), taskId, "input_required", runDue);
    await taskClient(url).answer(task);
    expect(await taskClient(url).task(taskId)).toMatchObject({ status: "working" });
    const { result } = await untilStatus(taskClient(url), taskId, "completed", runDue);
    expect(result).toMatchObject({
      content: [{ text: `${cakeIn(task)} says "Happy birthday"` }],
    });
  });

  test("cancels a task, which the worker then leaves alone", async () => {
    const { url, runDue } = await deployed();
    const client = taskClient(url);
    const { taskId = "" } = await client.start("bake_cake", { flavour: "nut" });
    await untilStatus(client, taskId, "input_required", runDue);
    await client.cancel(taskId);
    await runDue();
    expect(await client.task(taskId)).toMatchObject({ status: "cancelled" });
  });

  test("refuses a subscription, whose response would never be sent, and other addresses", async () => {
    const { url } = await deployed();
    expect((await post(url, "subscriptions/listen", { id: 1 })).status).toBe(501);
    expect((await fetch(new URL("/", url))).status).toBe(404);
  });
});

describe("a function that streams", () => {
  test("runs a task after the response that created it, and after the one that answered it", async () => {
    const { url } = await deployed("stream");
    const client = await officialClient(url);
    const call = client.callTool({ name: "bake_cake", arguments: { flavour: "cherry" } });
    expect(await textOf(call)).toMatch(/^cherry-[\w-]+ says "Happy birthday"$/);
  });

  test("sends the status of a response that has no body", async () => {
    const { url } = await deployed("stream");
    const response = await post(url, "notifications/cancelled", { params: { requestId: 1 } });
    expect(response.status).toBe(202);
    expect(await response.text()).toBe("");
  });
});

/** The example in the documentation of function URLs. */
const documented: HttpEvent & object = {
  version: "2.0",
  routeKey: "$default",
  rawPath: "/my/path",
  rawQueryString: "parameter1=value1&parameter1=value2&parameter2=value",
  cookies: ["cookie1", "cookie2"],
  headers: { header1: "value1", header2: "value1,value2" },
  queryStringParameters: { parameter1: "value1,value2", parameter2: "value" },
  requestContext: {
    accountId: "123456789012",
    apiId: "<urlid>",
    authentication: null,
    domainName: "id.lambda-url.us-west-2.on.aws",
    domainPrefix: "id",
    http: {
      method: "POST",
      path: "/my/path",
      protocol: "HTTP/1.1",
      sourceIp: "123.123.123.123",
      userAgent: "agent",
    },
    requestId: "id",
    routeKey: "$default",
    stage: "$default",
    time: "12/Mar/2020:19:03:58 +0000",
    timeEpoch: 1583348638390,
  },
  body: "Hello from client!",
  pathParameters: null,
  isBase64Encoded: false,
  stageVariables: null,
} as HttpEvent;
const { signal } = new AbortController();

describe("the payload format 2.0", () => {
  test("becomes a request with its address, headers, cookies and body", async () => {
    const request = requestOf(documented, signal);
    expect(request.method).toBe("POST");
    expect(request.url).toBe(
      "https://id.lambda-url.us-west-2.on.aws/my/path?parameter1=value1&parameter1=value2&parameter2=value",
    );
    expect(request.headers.get("header2")).toBe("value1,value2");
    expect(request.headers.get("cookie")).toBe("cookie1; cookie2");
    expect(await request.text()).toBe("Hello from client!");
  });

  test("may carry its body as base64, and may have none", async () => {
    const body = "grüße";
    const coded = Buffer.from(body).toString("base64");
    const encoded = { ...documented, body: coded, isBase64Encoded: true };
    expect(await requestOf(encoded, signal).text()).toBe(body);
    const { body: _, ...bare } = documented;
    const get = { ...bare, requestContext: { domainName: "a.example", http: { method: "GET" } } };
    expect(requestOf(get, signal).body).toBeNull();
  });

  test("takes a path that starts with two slashes as a path", () => {
    const { url } = requestOf({ ...documented, rawPath: "//evil.example/mcp" }, signal);
    expect(new URL(url).hostname).toBe("id.lambda-url.us-west-2.on.aws");
  });

  test("takes text as it is, other bytes as base64, and each cookie by itself", async () => {
    const headers = new Headers({ "content-type": "text/event-stream", vary: "a" });
    headers.append("vary", "b");
    headers.append("set-cookie", "a=1; Path=/");
    headers.append("set-cookie", "b=2");
    expect(await resultOf(new Response("data: ü\n\n", { headers, status: 201 }))).toEqual({
      statusCode: 201,
      headers: { "content-type": "text/event-stream", vary: "a, b" },
      cookies: ["a=1; Path=/", "b=2"],
      body: "data: ü\n\n",
      isBase64Encoded: false,
    });
    const picture = new Response(new Uint8Array([255, 0, 128]), {
      headers: { "content-type": "image/png" },
    });
    expect(await resultOf(picture)).toMatchObject({ body: "/wCA", isBase64Encoded: true });
  });
});
