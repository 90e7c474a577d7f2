// One kept-alive connection, one request at a time. Written by hand: `node:http` and `fetch` would cost the client more
// than the bare server is measured to cost, and two cores could not show its limit.
//
// It understands what servers really send here, and no more: a length, or chunks. Texts are kept as latin1, in which a
// byte is a character: comparing and cutting them needs no decoding. `onread` hands over bytes without a stream in between.

import { once } from "node:events";
import { connect } from "node:net";
import type { Socket } from "node:net";

export interface Response {
  readonly head: string;
  readonly status: string;
  readonly body: string;
}

export class Connection {
  readonly #socket: Socket;
  readonly #end: (error: Error) => void;
  #received = "";
  #take: ((response: Response) => void) | undefined;

  /** `end` is told of a connection that did not hold. */
  static async open(port: number, end: (error: Error) => void): Promise<Connection> {
    const connection = new Connection(port, end);
    await once(connection.#socket, "connect");
    return connection;
  }

  private constructor(port: number, end: (error: Error) => void) {
    this.#end = end;
    const buffer = Buffer.allocUnsafe(64 * 1024);
    const callback = (bytes: number) => {
      this.#data(buffer.toString("latin1", 0, bytes));
      return true;
    };
    this.#socket = connect({
      port,
      host: "127.0.0.1",
      noDelay: true,
      onread: { buffer, callback },
    });
    this.#socket.on("error", end);
    this.#socket.on("close", () => {
      if (this.#take !== undefined) end(new Error("the server closed a connection in use"));
    });
  }

  readonly send = (request: string, take: (response: Response) => void): void => {
    this.#take = take;
    this.#socket.write(request, "latin1");
  };

  readonly close = (): void => void this.#socket.destroy();

  #data(text: string): void {
    this.#received = this.#received === "" ? text : this.#received + text;
    const response = responseIn(this.#received);
    if (response === undefined) return;
    const take = this.#take;
    this.#received = "";
    this.#take = undefined;
    if (take === undefined)
      this.#end(new Error("the server sent something that was not asked for"));
    else take(response);
  }
}

/** Undefined as long as it is not all there. Nothing may follow it: only one request is under way. */
function responseIn(text: string): Response | undefined {
  const headEnd = text.indexOf("\r\n\r\n");
  if (headEnd < 0) return undefined;
  const head = text.slice(0, headEnd);
  const body = bodyIn(text, headEnd + 4, head);
  return body === undefined ? undefined : { head, status: head.slice(9, 12), body };
}

function bodyIn(text: string, start: number, head: string): string | undefined {
  const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1];
  if (length === undefined) return chunksIn(text, start);
  return text.length < start + Number(length) ? undefined : text.slice(start);
}

function chunksIn(text: string, start: number): string | undefined {
  let body = "";
  for (let at = start; ;) {
    const lineEnd = text.indexOf("\r\n", at);
    if (lineEnd < 0) return undefined;
    const size = Number.parseInt(text.slice(at, lineEnd), 16);
    if (!(size >= 0)) throw new Error(`no chunk: ${text.slice(at, at + 40)}`);
    const end = lineEnd + 2 + size;
    if (text.length < end + 2) return undefined;
    if (size === 0) return body;
    body += text.slice(lineEnd + 2, end);
    at = end + 2;
  }
}
