// One kept-alive connection that carries one request at a time. It is written by hand, because `node:http` and `fetch`
// would cost the client more than the bare server costs, and two cores could not show the server's limit.
//
// It understands only what these servers send: a length, or chunks. Texts are kept as latin1, where each byte is a
// character, so comparing and cutting them needs no decoding. `onread` passes bytes on without a stream.

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

  /** `end` is called if the connection breaks. */
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
      if (this.#take !== undefined)
        end(new Error("The server closed a connection that was in use."));
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
    if (take === undefined) this.#end(new Error("The server sent a response without a request."));
    else take(response);
  }
}

/** Undefined until the whole response is there. Nothing may follow it, because only one request is under way. */
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
    if (!(size >= 0)) throw new Error(`Not a chunk: ${text.slice(at, at + 40)}`);
    const end = lineEnd + 2 + size;
    if (text.length < end + 2) return undefined;
    if (size === 0) return body;
    body += text.slice(lineEnd + 2, end);
    at = end + 2;
  }
}
