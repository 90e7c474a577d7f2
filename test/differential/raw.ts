// Sends a request as bytes and reads the response from the socket.

import { connect } from "node:net";

export interface Sent {
  verb: string;
  target: string;
  version: string;
  /** In order. A name may occur twice. */
  headers: [name: string, value: string][];
  body: string | Buffer;
  /** Sends the body in chunks of this many bytes, without a length. */
  chunkBytes?: number;
}

export interface Came {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** The parsed JSON, the data of the events, or the text. */
  readonly body: unknown;
}

const patienceMs = 10_000;

/** The response, or the reason why there is none. */
export async function sent(port: number, request: Sent): Promise<Came | string> {
  const came = await exchanged(port, bytesOf(request), 1);
  return typeof came === "string" ? came : (came[0] ?? "nothing");
}

export function bytesOf({ verb, target, version, headers, body, chunkBytes }: Sent): Buffer {
  const bytes = Buffer.from(body);
  const framing: [string, string] =
    chunkBytes === undefined
      ? ["content-length", `${bytes.length}`]
      : ["transfer-encoding", "chunked"];
  const hasOwn = headers.some(([name]) => name === framing[0]);
  const lines = [...headers, ...(hasOwn ? [] : [framing])].map(
    ([name, value]) => `${name}: ${value}`,
  );
  const head = Buffer.from(
    `${verb} ${target} HTTP/${version}\r\n${lines.join("\r\n")}\r\n\r\n`,
    "latin1",
  );
  return Buffer.concat([head, chunkBytes === undefined ? bytes : chunked(bytes, chunkBytes)]);
}

function chunked(bytes: Buffer, size: number): Buffer {
  const parts: Buffer[] = [];
  for (let at = 0; at < bytes.length; at += size) {
    const part = bytes.subarray(at, at + size);
    parts.push(Buffer.from(`${part.length.toString(16)}\r\n`), part, Buffer.from("\r\n"));
  }
  return Buffer.concat([...parts, Buffer.from("0\r\n\r\n")]);
}

/** The responses on one connection: this many, or fewer if the connection ends first. */
export function exchanged(port: number, bytes: Buffer, count: number): Promise<Came[] | string> {
  return new Promise((resolve) => {
    let all = Buffer.alloc(0);
    const socket = connect(port, "127.0.0.1", () => socket.write(bytes));
    const impatience = setTimeout(() => end("no end"), patienceMs);
    const end = (what: Came[] | string) => {
      clearTimeout(impatience);
      socket.destroy();
      resolve(what);
    };
    socket.on("data", (chunk) => {
      all = Buffer.concat([all, chunk]);
      const whole = responsesIn(all, false);
      if (whole.length >= count) end(whole);
    });
    socket.on("end", () => end(responsesIn(all, true)));
    socket.on("error", ({ message }) => end(all.length > 0 ? responsesIn(all, true) : message));
  });
}

/** The responses that are complete. */
function responsesIn(bytes: Buffer, isEnd: boolean): Came[] {
  const found: Came[] = [];
  let rest = bytes;
  while (rest.length > 0) {
    const at = rest.indexOf("\r\n\r\n");
    if (at === -1) break;
    const [first = "", ...lines] = rest.subarray(0, at).toString("latin1").split("\r\n");
    const headers = Object.fromEntries(
      lines.map((line) => {
        const colon = line.indexOf(":");
        return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
      }),
    );
    const status = Number(first.split(" ")[1]);
    const after = rest.subarray(at + 4);
    const parts = status < 200 ? ([Buffer.alloc(0), after] as const) : split(after, headers, isEnd);
    if (parts === undefined) break;
    // "100 Continue" comes before the response and is not one.
    if (status >= 200) found.push({ status, headers, body: read(parts[0], headers) });
    rest = parts[1];
  }
  return found;
}

type Parts = readonly [body: Buffer, rest: Buffer];

function split(
  bytes: Buffer,
  { "transfer-encoding": encoding, "content-length": length }: Readonly<Record<string, string>>,
  isEnd: boolean,
): Parts | undefined {
  if (encoding === "chunked") return unchunked(bytes);
  const end = length === undefined ? bytes.length : Number(length);
  const isWhole = length === undefined ? isEnd : bytes.length >= end;
  return isWhole ? [bytes.subarray(0, end), bytes.subarray(end)] : undefined;
}

function unchunked(bytes: Buffer): Parts | undefined {
  const parts: Buffer[] = [];
  let at = 0;
  while (at < bytes.length) {
    const line = bytes.indexOf("\r\n", at);
    if (line === -1) return undefined;
    const size = Number.parseInt(bytes.subarray(at, line).toString(), 16);
    at = line + 2 + size + 2;
    if (size === 0) return [Buffer.concat(parts), bytes.subarray(at)];
    parts.push(bytes.subarray(line + 2, line + 2 + size));
  }
  return undefined;
}

function read(
  body: Buffer,
  { "content-type": type = "" }: Readonly<Record<string, string>>,
): unknown {
  const text = body.toString();
  if (type.startsWith("text/event-stream")) {
    return text
      .split("\n\n")
      .filter((event) => event !== "")
      .map((event): unknown => {
        const data = /^event: message\ndata: (.*)$/s.exec(event)?.[1];
        return data === undefined ? event : JSON.parse(data);
      });
  }
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}
