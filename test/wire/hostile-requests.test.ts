// Requests that are made to cost the server more than their sender.

import { once } from "node:events";
import { connect } from "node:net";
import { fromJsonSchema, OAuthError, OAuthErrorCode } from "@modelcontextprotocol/server";
import { parley } from "mcp-parley";
import type { ParleyOptions } from "mcp-parley";
import { describe, expect, onTestFinished, test } from "vitest";
import { overEntry } from "../entry.ts";
import { keys } from "../interop/errands.ts";
import { envelope, exchange, post } from "./post.ts";
import { keepingLogger } from "./till.ts";

async function servedDesk(options: Partial<ParleyOptions> = {}) {
  const { logger, logged } = keepingLogger();
  const info = { name: "desk", version: "1.0.0", keys, logger };
  const app = parley({ ...info, ...options } as ParleyOptions);
  app.resource("page", "page:{a}-{b}-{c}", {}, (_uri, { a, b, c }) => [a, b, c].join("+"));
  const inputSchema = fromJsonSchema({ type: "object" });
  app.tool("any", { inputSchema }, () => "taken");
  const { url } = await app.listen(0, overEntry());
  onTestFinished(() => app.close());
  return { app, to: url, logged };
}

describe("a URI with many ways to divide it among the variables of a template", () => {
  const hostile = envelope("resources/read", { uri: `page:${"-".repeat(3_000)}/` });

  test("is refused at once, over HTTP and through app.fetch", async () => {
    const { app, to } = await servedDesk();
    for (const target of [to, app]) {
      const started = performance.now();
      const { error } = await exchange(target, hostile);
      expect(error?.message).toContain("not found");
      // A regular expression needs 15 seconds for it.
      expect(performance.now() - started).toBeLessThan(8_000);
    }
  });

  test("is read if it matches, with each variable as long as possible", async () => {
    const { app, to } = await servedDesk();
    const message = envelope("resources/read", { uri: "page:1-2-3-4-5" });
    for (const target of [to, app]) {
      const { result } = await exchange(target, message);
      expect(result?.["contents"]).toMatchObject([{ text: "1-2-3+4+5" }]);
    }
  });

  test("is not found if it is longer than 8192 characters", async () => {
    const { app, to } = await servedDesk();
    const long = (length: number) =>
      envelope("resources/read", { uri: `page:a-b-${"c".repeat(length - 9)}` });
    for (const target of [to, app]) {
      expect((await exchange(target, long(8_192))).result).toBeDefined();
      expect((await exchange(target, long(8_193))).error?.message).toContain("not found");
    }
  });
});

/**
 * Sends bytes on a connection of its own. Collects the response until the server ends the connection, or until
 * `isEnough`.
 */
function socketTo(to: string) {
  const { port } = new URL(to);
  const socket = connect(Number(port), "127.0.0.1");
  onTestFinished(() => void socket.destroy());
  let text = "";
  const over = new Promise<string>((resolve) => {
    socket.on("data", (chunk) => {
      text += chunk.toString();
      if (/\r\n\r\n[^]/.test(text)) resolve(text);
    });
    socket.on("error", () => {});
    socket.on("close", () => resolve(text));
  });
  const ended = once(socket, "close");
  return { socket, over, ended };
}

const head = (to: string, ...more: string[]) =>
  [
    "POST /mcp HTTP/1.1",
    `host: ${new URL(to).host}`,
    "content-type: application/json",
    "accept: application/json, text/event-stream",
    "mcp-protocol-version: 2026-07-28",
    "mcp-method: resources/read",
    "mcp-name: page:1-2-3",
    ...more,
    "",
    "",
  ].join("\r\n");

const read = JSON.stringify(envelope("resources/read", { uri: "page:1-2-3" }));
const chunked = (text: string, size: number) => {
  const chunks = text.match(new RegExp(`[^]{1,${size}}`, "g")) ?? [];
  return chunks.map((chunk) => `${chunk.length.toString(16)}\r\n${chunk}\r\n`).join("");
};

describe("a body in many small chunks", () => {
  test("is served if it is short", async () => {
    const { to } = await servedDesk();
    const { socket, over } = socketTo(to);
    socket.write(`${head(to, "transfer-encoding: chunked")}${chunked(read, 1)}0\r\n\r\n`);
    expect(await over).toContain("1+2+3");
  });

  test("is refused before it has arrived", async () => {
    const { to } = await servedDesk();
    const { socket, over } = socketTo(to);
    socket.write(head(to, "transfer-encoding: chunked") + chunked(" ".repeat(2_000), 1));
    expect(await over).toMatch(/^HTTP\/1\.1 413 [^]*must not come in so many small chunks/);
  });

  test("is served if it is long and its chunks are not that small", async () => {
    const { to } = await servedDesk();
    const { socket, over } = socketTo(to);
    const long = chunked(" ".repeat(1_000_000) + read, 512);
    socket.write(`${head(to, "transfer-encoding: chunked")}${long}0\r\n\r\n`);
    expect(await over).toContain("1+2+3");
  });

  test("is refused in a stream that app.fetch gets", async () => {
    const { app } = await servedDesk();
    let pulled = 0;
    const body = new ReadableStream<Uint8Array>({
      pull: (stream) => {
        pulled += 1;
        if (pulled > 10_000) stream.close();
        else stream.enqueue(new Uint8Array([0x20]));
      },
    });
    const headers = { "content-type": "application/json" };
    const init = { method: "POST", headers, body, duplex: "half" };
    const request = new Request("http://127.0.0.1/mcp", init);
    expect((await app.fetch(request)).status).toBe(413);
    expect(pulled).toBeLessThan(2_000);
  });
});

describe("unfinished bodies", () => {
  test("all together hold a limited number of bytes: the oldest is given up", async () => {
    const { to } = await servedDesk({ limits: { requestBytes: 1_000_000 } });
    const first = socketTo(to);
    const begun = `${head(to, "content-length: 1000000")}${" ".repeat(900_000)}`;
    first.socket.write(begun);
    let isRefused = false;
    void first.over.then(() => {
      isRefused = true;
    });
    // One after the other, so that the first is the oldest. Each holds at least as many bytes as it has sent.
    for (let count = 0; count < 40 && !isRefused; count += 1) {
      const { socket } = socketTo(to);
      await new Promise((resolve) => void socket.write(begun, resolve));
    }
    expect(await first.over).toMatch(/^HTTP\/1\.1 503 /);
    expect((await exchange(to, envelope("tools/list"))).status).toBe(200);
  });
});

describe("limits.requestBytes", () => {
  const long = (bytes: number) => `${read}${" ".repeat(bytes - read.length)}`;
  const message = envelope("resources/read", { uri: "page:1-2-3" });

  test.each([2_000, 6_000_000])("is the largest body in bytes (%s)", async (requestBytes) => {
    const { app, to } = await servedDesk({ limits: { requestBytes } });
    for (const target of [to, app]) {
      const fits = await exchange(target, message, { body: long(requestBytes) });
      expect(fits.result).toBeDefined();
      const refused = await exchange(target, message, { body: long(requestBytes + 1) });
      expect([refused.status, refused.error?.message]).toEqual([
        413,
        `Payload Too Large: Request body must not exceed ${requestBytes} bytes`,
      ]);
    }
  });

  test("is compared with the announced length, before any of the body has arrived", async () => {
    const { app, to } = await servedDesk({ limits: { requestBytes: 2_000 } });
    const { socket, over } = socketTo(to);
    socket.write(head(to, "content-length: 2001"));
    expect(await over).toMatch(/^HTTP\/1\.1 413 /);
    const body = new ReadableStream<Uint8Array>({ pull: () => new Promise(() => {}) });
    const headers = { "content-type": "application/json", "content-length": "2001" };
    const init = { method: "POST", headers, body, duplex: "half" as const };
    const request = new Request("http://127.0.0.1/mcp", init);
    expect((await app.fetch(request)).status).toBe(413);
    expect(request.bodyUsed).toBe(false);
  });

  test("is checked while a body of unknown length arrives", async () => {
    const { to } = await servedDesk({ limits: { requestBytes: 2_000 } });
    const { socket, over } = socketTo(to);
    socket.write(head(to, "transfer-encoding: chunked") + chunked(" ".repeat(2_001), 1_000));
    expect(await over).toMatch(/^HTTP\/1\.1 413 /);
  });
});

describe("JSON that costs more to parse than to send", () => {
  const message = envelope("tools/call", { name: "any", arguments: {} });
  const having = (json: string) =>
    JSON.stringify(message).replace('"arguments":{}', `"arguments":{"a":${json}}`);

  /** Members of an object, with numbered names and spaces where JSON allows them. */
  const named = (count: number, first = 0) =>
    Array.from({ length: count }, (_, at) => `"n${first + at}"\t\n :0`).join();
  const objects = (count: number) =>
    Array.from({ length: count }, (_, at) => `,{${named(100, 100 * at)}}`).join("");

  test.each([
    ["nested lists", `${"[".repeat(300)}${"]".repeat(300)}${" ".repeat(1_024)}`, "deeper than 256"],
    ["nested objects", `${'{"a":'.repeat(300)}0${"}".repeat(300)}`, "deeper than 256"],
    ["a list of lists", `[${"[],".repeat(140_000)}0]`, "more than 131072 JSON values"],
    ["a list of numbers", `[${"0,".repeat(140_000)}0]`, "more than 131072 JSON values"],
    ["one object of many names", `{${named(9_000)}}`, "more than 8192 different member names"],
    [
      "objects of many names",
      `[{${named(100, 0)}}${objects(95)}]`,
      "more than 8192 different member names",
    ],
  ])("is refused: %s", async (_, json, problem) => {
    const { app, to } = await servedDesk();
    for (const target of [to, app]) {
      const { status, error } = await exchange(target, message, { body: having(json) });
      expect([status, error?.message]).toEqual([413, expect.stringContaining(problem)]);
    }
  });

  test.each([
    ["text full of brackets and quotes", JSON.stringify('["\\[{,'.repeat(100_000))],
    ["a list of 100,000 numbers", `[${"0,".repeat(100_000)}0]`],
    ["30,000 members with the same names", `[${`{${named(100)}},`.repeat(300)}0]`],
    ["an object of 8,000 names", `{${named(8_000)}}`],
    ["10,000 texts that look like names", `["${'a\\":","'.repeat(10_000)}"]`],
  ])("is served: %s", async (_, json) => {
    const { app, to } = await servedDesk();
    for (const target of [to, app]) {
      const { result } = await exchange(target, message, { body: having(json) });
      expect(result?.["content"]).toEqual([{ type: "text", text: "taken" }]);
    }
  });
});

describe("a stranger", () => {
  const guarded = (): Partial<ParleyOptions> & { readonly seen: string[] } => {
    const seen: string[] = [];
    const verifyAccessToken = async (token: string) => {
      seen.push(token);
      if (token !== "ada") throw new OAuthError(OAuthErrorCode.InvalidToken, "unknown");
      return {
        token,
        clientId: "app",
        scopes: [],
        expiresAt: 4_000_000_000,
        extra: { sub: token },
      };
    };
    return { seen, auth: { verifier: { verifyAccessToken } }, principal: () => "ada" };
  };

  test.each([
    ["without a token", []],
    ["with a bad token", ["authorization: Bearer eve"]],
  ])("%s is refused before the body has arrived", async (_, credentials) => {
    const { to } = await servedDesk(guarded());
    for (const body of ["content-length: 4000000", "transfer-encoding: chunked"]) {
      const { socket, over, ended } = socketTo(to);
      socket.write(head(to, body, ...credentials));
      expect(await over).toMatch(/^HTTP\/1\.1 401 /);
      // The connection is cut if the body does not end.
      await ended;
    }
  });

  test("is refused by app.fetch before the body is read", async () => {
    const { app } = await servedDesk(guarded());
    const body = new ReadableStream<Uint8Array>({ pull: () => new Promise(() => {}) });
    const headers = { "content-type": "application/json" };
    const init = { method: "POST", headers, body, duplex: "half" };
    const request = new Request("http://127.0.0.1/mcp", init);
    expect((await app.fetch(request)).status).toBe(401);
    expect(request.bodyUsed).toBe(false);
  });

  test("is not told whether a tool exists, or whether the body is JSON", async () => {
    const { to } = await servedDesk(guarded());
    const told = [];
    for (const body of [read, "{", "[".repeat(5_000), "{}"]) {
      const response = await post(to, envelope("resources/read", { uri: "page:1-2-3" }), { body });
      told.push([response.status, await response.text()]);
    }
    expect(new Set(told.map(String)).size).toBe(1);
  });

  test("keeps the connection if the body is short", async () => {
    const { to } = await servedDesk(guarded());
    const { socket, over } = socketTo(to);
    const short = `content-length: ${read.length}`;
    socket.write(head(to, short) + read);
    expect(await over).toMatch(/^HTTP\/1\.1 401 /);
    const second = new Promise<string>((resolve) => {
      socket.once("data", (chunk) => resolve(chunk.toString()));
    });
    socket.write(head(to, short, "authorization: Bearer ada") + read);
    expect(await second).toMatch(/^HTTP\/1\.1 200 /);
  });

  test("is verified once, whichever way the request is served", async () => {
    const options = guarded();
    const { app, to } = await servedDesk(options);
    const headers = { authorization: "Bearer ada" };
    await exchange(to, envelope("resources/read", { uri: "page:1-2-3" }), { headers });
    await exchange(to, envelope("tools/list"), { headers });
    await exchange(app, envelope("tools/list"), { headers });
    expect(options.seen).toEqual(["ada", "ada", "ada"]);
  });

  test.each([
    ["of another path", "POST /other HTTP/1.1", "", 404],
    ["with another host", "POST /mcp HTTP/1.1", "host: evil.example", 403],
    ["of another origin", "POST /mcp HTTP/1.1", "origin: http://evil.example", 403],
  ])("%s is refused before the body has arrived", async (_, line, header, status) => {
    const { to } = await servedDesk();
    const { socket, over, ended } = socketTo(to);
    const sent = head(to, "content-length: 4000000", header || "x-a: b")
      .replace(/^.*/, line)
      .replace(/\r\nhost: [^\r]*(?=[^]*\r\nhost:)/, "");
    socket.write(sent);
    expect(await over).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
    await ended;
  });
});
