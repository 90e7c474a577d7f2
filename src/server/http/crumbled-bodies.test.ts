import { once } from "node:events";
import { createServer } from "node:http";
import type { IncomingMessage } from "node:http";
import { connect } from "node:net";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { forgetCrumbs, isSkipped, skipCrumbs } from "./crumbled-bodies.ts";
import { forgetBody } from "./turn-away.ts";

interface Seen {
  chunks: number;
  text: string;
  hasEnded: boolean;
  readonly isSkipped: () => boolean;
  /** Does what the server does when it has responded. */
  readonly refuse: () => void;
}

/** A server that reads every body, and what it has seen of each. */
async function reader(onRequest: (req: IncomingMessage) => void = () => {}) {
  const seen: Seen[] = [];
  const server = createServer((req, res) => {
    skipCrumbs(req);
    // A host may call it a second time.
    skipCrumbs(req);
    onRequest(req);
    const body: Seen = {
      chunks: 0,
      text: "",
      hasEnded: false,
      isSkipped: () => isSkipped(req),
      refuse: () => forgetBody(req),
    };
    seen.push(body);
    req.on("data", (chunk: Buffer) => {
      body.chunks += 1;
      body.text += chunk.toString();
    });
    req.on("error", () => {});
    req.on("end", () => {
      body.hasEnded = true;
    });
    res.end("read");
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const send = (bytes: string) => {
    const socket = connect(port, "127.0.0.1").on("error", () => {});
    socket.resume().write(bytes);
    onTestFinished(() => void socket.destroy());
    return socket;
  };
  return { seen, send };
}

const head = "POST / HTTP/1.1\r\nhost: here\r\ntransfer-encoding: chunked\r\n\r\n";
const crumbs = (count: number) => "1\r\nx\r\n".repeat(count);
const end = "0\r\n\r\n";

test("a body in too many small chunks is skipped within its packet, and never ends", async () => {
  const { seen, send } = await reader();
  send(`${head}${crumbs(8_000)}${end}${head}5\r\nwhole\r\n${end}`);
  await expect.poll(() => seen[1]?.hasEnded).toBe(true);
  expect(seen[0]?.text.length).toBeLessThan(1_100);
  expect(seen[0]?.isSkipped()).toBe(true);
  expect(seen[0]?.hasEnded).toBe(false);
  expect(seen[1]?.isSkipped()).toBe(false);
  expect(seen[1]?.text).toBe("whole");
});

test("a connection that sends more of such a body is closed when the request has been refused", async () => {
  const { seen, send } = await reader();
  const socket = send(`${head}${crumbs(8_000)}`);
  const closed = new Promise((resolve) => void socket.once("close", resolve));
  await expect.poll(() => seen[0]?.isSkipped()).toBe(true);
  const more = setInterval(() => void (socket.writable && socket.write(crumbs(10))), 10);
  onTestFinished(() => clearInterval(more));
  seen[0]?.refuse();
  await closed;
  expect(seen[0]?.text.length).toBeLessThan(1_100);
});

test("small chunks are passed on together, and in order with large ones", async () => {
  const { seen, send } = await reader();
  const large = `200\r\n${"L".repeat(512)}\r\n`;
  send(`${head}${crumbs(300)}${large}${large}${crumbs(300)}${end}`);
  await expect.poll(() => seen[0]?.hasEnded).toBe(true);
  const small = "x".repeat(300);
  expect(seen[0]?.text).toBe(small + "L".repeat(1_024) + small);
  // The operating system may divide the packet, but not into hundreds.
  expect(seen[0]?.chunks).toBeLessThan(50);
});

test("of a body that the server does not read, few small chunks are received and none is passed on", async () => {
  const { seen, send } = await reader(forgetCrumbs);
  send(`${head}${crumbs(60)}${end}${head}${crumbs(8_000)}${end}${head}5\r\nabcde\r\n${end}`);
  await expect.poll(() => seen[2]?.hasEnded).toBe(true);
  expect(seen.map((body) => [body.text, body.isSkipped(), body.hasEnded])).toEqual([
    ["", false, true],
    ["", true, false],
    ["", false, true],
  ]);
});

test("other bodies are read whole, also with a parser that has skipped one", async () => {
  const { seen, send } = await reader();
  for (let count = 0; count < 3; count += 1) {
    const socket = send(`${head}${crumbs(8_000)}`);
    await expect.poll(() => seen.length).toBe(2 * count + 1);
    const closed = once(socket, "close");
    socket.destroy();
    await closed;
    send(`${head}${crumbs(1_000)}${end}`);
    await expect.poll(() => seen[2 * count + 1]?.hasEnded).toBe(true);
    expect(seen[2 * count + 1]?.text).toHaveLength(1_000);
  }
});
