// Serves over standard input and output as `app.stdio()` does, but on streams inside this process.

import { PassThrough } from "node:stream";
import { createInterface } from "node:readline";
import { McpServer } from "@modelcontextprotocol/server";
import { serveStdio, StdioServerTransport } from "@modelcontextprotocol/server/stdio";
import { onTestFinished } from "vitest";
import { registeredAs } from "../../src/server/define/handles.ts";
import { TaskListeningTransport } from "../../src/server/sdk/task-subscriptions/over-stdio.ts";
import { oven } from "./oven.ts";
import type { Oven } from "./oven.ts";
import { envelope } from "./post.ts";
import type { Envelope, Incoming } from "./post.ts";
import { follows } from "./task-calls.ts";

export interface StdioHere extends Oven {
  readonly send: (message: object) => void;
  /** The next line. */
  readonly next: () => Promise<Incoming>;
  /** Sends a request with an envelope, and returns the notifications before its response and the response. */
  readonly ask: (method: string, params?: object, own?: Envelope) => Promise<Incoming[]>;
  /** The server behind the connection, once it has one. */
  readonly server: () => McpServer | undefined;
  /** Disconnects the client. */
  readonly hangUp: () => void;
  /** Closes the server. */
  readonly close: () => Promise<void>;
}

const serverInfo = { name: "oven", version: "1.0.0" };

export async function stdioHere(options: Parameters<typeof oven>[0] = {}): Promise<StdioHere> {
  const made = oven(options);
  await made.app.work();
  const input = new PassThrough();
  const output = new PassThrough();
  let server: McpServer | undefined;
  const { core } = registeredAs(made.proof);
  const served = serveStdio(
    () => {
      server = made.app.attach(new McpServer(serverInfo));
      return server;
    },
    {
      transport: new TaskListeningTransport(
        new StdioServerTransport(input, output),
        core,
        serverInfo,
      ),
    },
  );
  onTestFinished(async () => {
    await served.close();
    await made.app.close();
  });
  const lines = createInterface({ input: output })[Symbol.asyncIterator]();
  const send = (message: object) =>
    void input.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  const next = async (): Promise<Incoming> => {
    const { done, value } = await lines.next();
    if (done === true) throw new Error("it has said its last line");
    const line: Incoming = JSON.parse(value);
    return line;
  };
  return {
    ...made,
    send,
    next,
    ask: async (method, params = {}, own = {}) => {
      const id = own.id ?? "asked";
      send(envelope(method, { ...params }, { capabilities: follows, ...own, id }));
      const heard = [await next()];
      while (heard.at(-1)?.id !== id) heard.push(await next());
      return heard;
    },
    server: () => server,
    hangUp: () => void input.end(),
    close: () => served.close(),
  };
}
