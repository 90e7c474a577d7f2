// Requests that try to cost the server more than their sender. Each ends when the server has responded, or keeps its
// connection open.
//
// A stranger's request may never cost more than ten plain calls. A known caller's body is read, scanned and parsed,
// which takes time for every byte, so each kind has a factor of its own, two to three times what a body near the limit
// of 4 MiB costs. For comparison, receiving, scanning and parsing 4 MB of text costs as much as 20 to 30 calls.

import { envelope } from "../wire/post.ts";
import type { Message } from "../wire/post.ts";
import { isFull } from "./measure.ts";
import type { Attempt } from "./measure.ts";
import { headOf, plain, sendTo, sent, whole } from "./target.ts";
import type { Connection, Target } from "./target.ts";

export interface Attack {
  readonly name: string;
  /** Sends one attacking request. Returns the connection if it is held open. */
  readonly once: (target: Target, token: string | undefined) => ReturnType<Attempt>;
  /** How many plain calls one request of a known caller may cost. */
  readonly known: number;
  /** Whether it is sent in every run of the tests. */
  readonly isQuick?: boolean;
}

const chunked = "transfer-encoding: chunked";
const announced = "content-length: 4000000";

/** `npm run test:attack` sends bodies close to the limit of 4 MiB. */
const size = isFull ? 3_800_000 : 400_000;
const fill = Buffer.alloc(1_000_000, " ");

const text = JSON.stringify(plain);
const withArguments = (json: string): string =>
  text.replace('"arguments":{}', `"arguments":${json}`);
const around = (json: string): string => withArguments(`{"a":${json}}`);
const withMeta = (json: string): string => text.replace('"_meta":{', `"_meta":{${json},`);

/** Members with names that no other request has had: V8 remembers names for a while. */
let next = 0;
function members(count: number): string {
  const first = next;
  next += count;
  return Array.from({ length: count }, (_, at) => `"k${first + at}":0`).join();
}

/** As many names as one body may have. */
const mostNames = 8_000;
const nested = around(`${"[".repeat(size / 2)}${"]".repeat(size / 2)}`);
const wide = around(`[${"[],".repeat(size / 3)}0]`);
const lists = around(`[${"[],".repeat(Math.min(size / 3, 130_000))}0]`);
const escaped = around(`"${String.raw`\"`.repeat(size / 2)}"`);
const foreign = around(`"${"é".repeat(size / 2)}"`);
const hostileUri = `page:${"-".repeat(8_000)}/`;
const reading = envelope("resources/read", { uri: hostileUri });
const token = `v1.test.${"A".repeat(size)}`;
const crumbs = Buffer.from("1\r\n \r\n".repeat(isFull ? 500_000 : 50_000));

function posted(
  name: string,
  known: number,
  body: () => string,
  { message = plain, isQuick = false }: { message?: Message; isQuick?: boolean } = {},
): Attack {
  return {
    name,
    known,
    isQuick,
    once: async (target, caller) =>
      void (await sent(target, whole(target, message, caller, body()))),
  };
}

/** A request without a body. */
function headed(name: string, known: number, change: (head: string) => string): Attack {
  return {
    name,
    known,
    once: async (target, caller) => void (await sent(target, change(whole(target, plain, caller)))),
  };
}

/** Sends the head, and then the body in another packet. */
async function apart(
  target: Target,
  caller: string | undefined,
  framing: string,
  body: Buffer,
): Promise<Connection> {
  const head = headOf(target, { message: plain, token: caller, framing });
  const connection = await sendTo(target, head);
  await new Promise((resolve) => void connection.socket.write(body, resolve));
  return connection;
}

const batch = `[${Array.from({ length: 1_000 }, () => text).join()}]`;
const padding = Array.from({ length: 300 }, (_, at) => `x-${at}: ${"y".repeat(30)}\r\n`).join("");

export const attacks: readonly Attack[] = [
  {
    name: "a body in chunks of one byte, from the first packet on",
    isQuick: true,
    known: 15,
    once: async (target, caller) => {
      const head = headOf(target, { message: plain, token: caller, framing: chunked });
      await sent(target, Buffer.concat([Buffer.from(head), crumbs]));
      return undefined;
    },
  },
  {
    name: "a body in chunks of one byte, after the head",
    isQuick: true,
    known: 15,
    once: async (target, caller) => {
      const { socket, status } = await apart(target, caller, chunked, crumbs);
      await status;
      socket.destroy();
      return undefined;
    },
  },
  // Refused while it is scanned, but received.
  posted("JSON of very many levels", 60, () => nested),
  posted("JSON of very many empty lists", 40, () => wide),
  posted("JSON of very many members", 40, () => around(`{${members(size / 11)}}`)),
  // The largest body that is not refused: it is scanned, parsed, and copied for the digest.
  posted("JSON of as many lists as may be", 60, () => lists),
  // V8 makes a description of an object for every name.
  posted(
    "objects with as many names as are allowed",
    150,
    () => {
      const objects = Array.from({ length: mostNames / 100 }, () => `{${members(100)}}`);
      return around(`[${objects.join()}]`);
    },
    { isQuick: true },
  ),
  posted("arguments with as many names as are allowed", 50, () =>
    withArguments(`{${members(mostNames)}}`),
  ),
  posted("a `_meta` with as many names as are allowed", 50, () => withMeta(members(mostNames))),
  // Every byte is looked at, and the text is copied when it is parsed.
  posted("a text of very many escaped quotes", 100, () => escaped),
  // Node 20 needs 5 nanoseconds to decode a byte that is not ASCII.
  posted("a text that is not in ASCII", 200, () => foreign),
  posted("a requestState that is too long", 100, () =>
    text.replace('"_meta"', `"requestState":"${token}","_meta"`),
  ),
  posted("a batch of a thousand calls", 50, () => batch),
  posted("a URI with many ways to divide it", 15, () => JSON.stringify(reading), {
    message: reading,
  }),
  headed("a head of 15 kB", 10, (head) => head.replace("\r\n\r\n", `\r\n${padding}\r\n`)),
  headed("a bearer token of 15 kB", 10, (head) =>
    head.replace(
      /(authorization: .*\r\n)?\r\n/,
      `authorization: Bearer ${"t".repeat(15_000)}\r\n\r\n`,
    ),
  ),
  headed("a path that is no URL", 10, (head) => head.replace("/mcp", "//")),
  headed("another host", 10, (head) => head.replace(/host: .*\r\n/, "host: evil.example\r\n")),
  headed("a stream of a session that does not exist", 10, (head) =>
    head.replace("POST", "GET").replace("\r\n", "\r\nmcp-session-id: none\r\n"),
  ),
  {
    name: "a head that never ends",
    known: 10,
    once: async (target) => sendTo(target, "POST /mcp HTTP/1.1\r\nhost: "),
  },
  {
    // A known caller's body of 1 MB is held while it arrives.
    name: "a body that never ends",
    isQuick: true,
    known: 20,
    once: (target, caller) => apart(target, caller, announced, fill),
  },
  {
    name: "a body that is broken off",
    known: 20,
    once: async (target, caller) => {
      const { socket } = await apart(target, caller, announced, fill);
      socket.destroy();
      return undefined;
    },
  },
];
