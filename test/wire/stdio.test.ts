// Standard input and output, line by line: what 2026-07-28 requires of a server there, and how it ends.

import { mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { accept, envelope } from "./post.ts";
import type { Envelope } from "./post.ts";
import { started } from "./stdio-process.ts";

const till = new URL("stdio-till.ts", import.meta.url);
const call = (name: string, params: object = {}, own: Envelope = {}) =>
  envelope("tools/call", { name, arguments: {}, ...params }, own);

test("each line is one message, both ways, through all rounds of a call [S65]", async () => {
  const { send, next } = started(till);
  send(call("age", {}, { id: 1 }));
  const asked = await next();
  expect(asked).toMatchObject({ id: 1, result: { resultType: "input_required" } });
  const requestState = asked.result?.["requestState"];
  send(call("age", { requestState, inputResponses: { age: accept({ age: 20 }) } }, { id: 2 }));
  expect(await next()).toMatchObject({ id: 2, result: { content: [{ text: "20" }] } });
});

test("-32021 and refused tokens are errors as over HTTP [S11] [S29]", async () => {
  const { send, next } = started(till);
  send(call("age", {}, { id: 1, capabilities: {} }));
  expect(await next()).toMatchObject({ id: 1, error: { code: -32021 } });
  send(call("age", { requestState: "v1.interop.AAAA" }, { id: 2 }));
  expect(await next()).toMatchObject({
    id: 2,
    error: { code: -32602, data: { reason: "invalid_request_state" } },
  });
});

test("what one request declares about its client applies to that request alone [S6]", async () => {
  const { send, next } = started(till);
  const clientInfo = "io.modelcontextprotocol/clientInfo";
  send(call("facts", {}, { meta: { [clientInfo]: { name: "first", version: "1" } } }));
  expect(JSON.stringify(await next())).toContain("first");
  send(call("facts", {}, { meta: { [clientInfo]: undefined } }));
  expect(JSON.stringify(await next())).not.toContain("first");
  send(call("chooser", {}, { capabilities: {} }));
  expect(await next()).toMatchObject({ result: { content: [{ text: "asked nobody" }] } });
  send(call("chooser", {}, { capabilities: { sampling: {} } }));
  expect(await next()).toMatchObject({ result: { resultType: "input_required" } });
});

test("progress comes before the result of its request [S70]", async () => {
  const { send, next } = started(till);
  send(call("count", {}, { meta: { progressToken: "p" } }));
  const lines = [await next(), await next(), await next()];
  expect(lines.map(({ params }) => params?.["progress"])).toEqual([1, 2, undefined]);
  expect(lines[2]).toMatchObject({ id: 1, result: { content: [{ text: "counted" }] } });
});

test("parts of a stream come before the result of its request, to the client that wants them", async () => {
  const { send, next } = started(till);
  const streaming = "io.github.mcp-parley/streaming";
  const capabilities = { extensions: { [streaming]: {} } };
  send(call("dictate", {}, { capabilities, meta: { [streaming]: { token: "s" } } }));
  const content = [{ type: "text", text: "one two" }];
  expect(await next()).toEqual({
    jsonrpc: "2.0",
    method: `notifications/${streaming}/part`,
    params: { token: "s", block: "words", content },
  });
  expect(await next()).toMatchObject({ id: 1, result: { content } });
  send(call("dictate", {}, { id: 2, capabilities }));
  expect(await next()).toMatchObject({ id: 2, result: { content } });
});

test("a 2025-11-25 client that cannot be asked gets a message that says so and does not mention HTTP [E1.3]", async () => {
  const { send, next } = started(till);
  send({
    id: 1,
    method: "initialize",
    params: {
      protocolVersion: "2025-11-25",
      capabilities: {},
      clientInfo: { name: "by hand", version: "1.0.0" },
    },
  });
  await next();
  send({ id: 2, method: "tools/call", params: { name: "age", arguments: {} } });
  const answer = await next();
  expect(answer.result).toMatchObject({ isError: true });
  expect(JSON.stringify(answer)).not.toContain("HTTP");
});

test("app.close ends the server", async () => {
  const { send, exit } = started(till);
  send(call("close"));
  expect(await exit).toBe(0);
});

describe("notifications/cancelled", () => {
  test("stops the body and the handler, and gets no response [S66]", async () => {
    const { send, next, says } = started(till);
    send(call("wait", {}, { id: "slow" }));
    await says(/^waiting$/);
    const cancelled = { method: "notifications/cancelled", params: { requestId: "slow" } };
    const meta = envelope("x").params["_meta"];
    send({ ...cancelled, params: { ...cancelled.params, _meta: meta } });
    await says(/^stopped: Cancelled$/);
    send(call("free", {}, { id: "after" }));
    expect(await next()).toMatchObject({ id: "after" });
  });

  test("is ignored for an unknown request [S66]", async () => {
    const { send, next } = started(till);
    send(call("free", {}, { id: 1 }));
    expect(await next()).toMatchObject({ id: 1 });
    const meta = envelope("x").params["_meta"];
    send({ method: "notifications/cancelled", params: { requestId: 77, _meta: meta } });
    send(call("free", {}, { id: 2 }));
    expect(await next()).toMatchObject({ id: 2 });
  });
});

describe("when its input ends", () => {
  test("the server exits by itself [S67]", async () => {
    const { send, next, hangUp, exit } = started(till);
    send(call("free"));
    await next();
    hangUp();
    expect(await exit).toBe(0);
  });

  test("the server exits before any message [S67]", async () => {
    const { hangUp, exit } = started(till);
    hangUp();
    expect(await exit).toBe(0);
  });

  test("the server stops what is under way and exits [S67]", async () => {
    const { send, says, hangUp, exit } = started(till);
    send(call("wait"));
    await says(/^waiting$/);
    hangUp();
    await says(/^stopped: Cancelled$/);
    expect(await exit).toBe(0);
  });
});

describe("its keys", () => {
  function folder(): string {
    const made = mkdtempSync(join(tmpdir(), "parley-stdio-"));
    onTestFinished(() => rmSync(made, { recursive: true }));
    return made;
  }
  const keyless = new URL("stdio-keyless.ts", import.meta.url);
  const env = { PARLEY_KEYS: "", NODE_ENV: "development" };

  test("are generated once in development, readable only by this user, and used after a restart [D6]", async () => {
    const cwd = folder();
    const before = started(keyless, { cwd, env });
    before.send(call("ask"));
    const asked = await before.next();
    before.hangUp();
    await before.exit;
    const path = join(cwd, ".parley/keys");
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(readFileSync(path, "utf8")).toMatch(/^dev:[\w-]{43}\n$/);
    const after = started(keyless, { cwd, env });
    const requestState = asked.result?.["requestState"];
    const inputResponses = { name: accept({ name: "Ada" }) };
    after.send(call("ask", { requestState, inputResponses }));
    expect(await after.next()).toMatchObject({ result: { content: [{ text: "Ada" }] } });
  });

  test("are not generated in production: the server does not start, and says why [D6]", async () => {
    const production = { ...env, NODE_ENV: "production" };
    const { says, exit } = started(keyless, { cwd: folder(), env: production });
    await says(/There is no key to seal state with\. Set PARLEY_KEYS/);
    await says(/A key is generated only in development, and NODE_ENV is production\.$/);
    expect(await exit).toBe(1);
  });
});
