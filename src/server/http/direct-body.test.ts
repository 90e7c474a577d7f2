import { once } from "node:events";
import { createServer, IncomingMessage } from "node:http";
import type { ServerResponse } from "node:http";
import { connect } from "node:net";
import type { Socket } from "node:net";
import { afterEach, expect, test } from "vitest";
import { directRequests, isDirect } from "./direct-body.ts";
import type { DirectRequest } from "./direct-body.ts";

const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0)) await end();
});

type Serve = (req: DirectRequest, res: ServerResponse) => void;

async function connected(serve: Serve): Promise<Socket> {
  const server = createServer({ IncomingMessage: directRequests(IncomingMessage) }, (req, res) => {
    if (isDirect(req)) serve(req, res);
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const address = server.address();
  if (typeof address !== "object" || address === null) throw new Error("The server has no port.");
  const socket = connect({ port: address.port, host: "127.0.0.1", noDelay: true });
  ends.push(
    () => socket.destroy(),
    () => new Promise((resolve) => void server.close(resolve)),
  );
  await once(socket, "connect");
  return socket;
}

/** Resolves when the server has sent a text. */
async function received(socket: Socket, wanted: string): Promise<string> {
  let text = "";
  for await (const chunk of socket.iterator({ destroyOnReturn: false })) {
    text += String(chunk);
    if (text.includes(wanted)) return text;
  }
  throw new Error(`The server sent only: ${text}`);
}

const post = (length: number, body = "") =>
  `POST / HTTP/1.1\r\nhost: localhost\r\ncontent-length: ${length}\r\n\r\n${body}`;

/** Takes the body, and responds with it. */
const echo =
  (onChunk = (_chunk: string) => {}): Serve =>
  (req, res) => {
    let body = "";
    const add = (chunk: Buffer) => {
      body += String(chunk);
      onChunk(String(chunk));
    };
    if (!req.takeBody({ add, end: () => res.end(`<${body}>`) })) res.end("not taken");
  };

const never = () => expect.unreachable();

test("a body is taken whole, however it is cut, and the connection serves the next request", async () => {
  const seen: DirectRequest[] = [];
  const sendRest = (chunk: string) => void (chunk === "ab" && socket.write("cdef"));
  const socket = await connected((req, res) => {
    seen.push(req);
    echo(sendRest)(req, res);
  });
  socket.write(post(3, "abc"));
  expect(await received(socket, ">")).toContain("<abc>");
  socket.write(post(6, "ab"));
  expect(await received(socket, ">")).toContain("<abcdef>");
  // Node does not start the stream after the response.
  const taken = { complete: true, readableEnded: true, readableFlowing: null };
  for (const req of seen) expect(req).toMatchObject(taken);
  expect(seen).toHaveLength(2);
});

test("requests that come in one packet are each taken", async () => {
  const socket = await connected(echo());
  socket.write(post(1, "a") + post(1, "b") + post(0) + post(1, "c"));
  const text = await received(socket, "<c>");
  expect(text.match(/<.?>/g)).toEqual(["<a>", "<b>", "<>", "<c>"]);
});

test("a body that has begun to arrive in the stream is not taken", async () => {
  const socket = await connected((req, res) => {
    setImmediate(() => {
      const { readableLength, complete } = req;
      const isTaken = req.takeBody({ add: () => {}, end: () => res.end("taken") });
      let body = "";
      req.on("data", (chunk) => (body += String(chunk)));
      req.on("end", () => res.end(JSON.stringify({ readableLength, complete, isTaken, body })));
      socket.write("cd");
    });
  });
  socket.write(post(4, "ab"));
  expect(await received(socket, "aken")).toContain(
    `{"readableLength":2,"complete":false,"isTaken":false,"body":"abcd"}`,
  );
});

test("a body that the taker leaves goes on through the stream", async () => {
  const socket = await connected((req, res) => {
    const add = (chunk: Buffer) => {
      req.leaveBody();
      let rest = "";
      req.on("data", (more) => (rest += String(more)));
      req.on("end", () => res.end(`${String(chunk)}, then ${rest}`));
      socket.write("cd");
    };
    req.takeBody({ add, end: never });
  });
  socket.write(post(4, "ab"));
  expect(await received(socket, "cd")).toContain("ab, then cd");
});

test("a request whose client disconnects within its body is closed", async () => {
  let socket: Socket | undefined;
  const isComplete = new Promise<boolean>((resolve, reject) => {
    connected((req) => {
      req.on("close", () => resolve(req.complete));
      req.takeBody({ add: () => socket?.destroy(), end: never });
    }).then((opened) => (socket = opened).write(post(4, "ab")), reject);
  });
  expect(await isComplete).toBe(false);
});

test("a body is not taken if something else handles what the parser reads", async () => {
  const socket = await connected((req, res) => {
    const parser: unknown = Reflect.get(req.socket, "parser");
    if (typeof parser !== "object" || parser === null) throw new Error("There is no parser.");
    const onBody: unknown = Reflect.get(parser, 3);
    Reflect.set(parser, 3, function other(this: unknown, chunk: unknown) {
      if (typeof onBody === "function") Reflect.apply(onBody, this, [chunk]);
    });
    const isTaken = req.takeBody({ add: () => {}, end: () => res.end("taken") });
    req.resume().on("end", () => {
      Reflect.set(parser, 3, onBody);
      res.end(`taken: ${isTaken}`);
    });
  });
  socket.write(post(2, "ab"));
  expect(await received(socket, "taken")).toContain("taken: false");
});

test("a request can be read through an object that inherits from it", async () => {
  const socket = await connected((req, res) => {
    const heir = Object.create(req);
    const end = () => res.end(`ended: ${heir.readableEnded}`);
    req.takeBody({ add: () => {}, end });
  });
  socket.write(post(2, "ab"));
  expect(await received(socket, "ended")).toContain("ended: true");
});
