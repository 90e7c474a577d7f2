// Requests that try to cost the server more than their sender. Each ends when the server has responded, or holds on.

import process from "node:process";
import { envelope } from "../wire/post.ts";
import type { Message } from "../wire/post.ts";
import { headOf, plain, sendTo, sent, whole } from "./target.ts";
import type { Connection, Target } from "./target.ts";

export interface Attack {
  readonly name: string;
  /** Sends one attacking request. Returns the connection if it is held open. */
  readonly once: (target: Target, token: string | undefined) => Promise<Connection | undefined>;
  /** How many plain calls one request of a known caller may cost. */
  readonly known: number;
  /** The same for a stranger. Default: 10. */
  readonly stranger?: number;
  /** Whether fifty of them at the same time are sent in every run of the tests. */
  readonly isQuick?: boolean;
}

/** A body may have 1,024 chunks of any size before the rest is skipped, and Node passes each of them on. */
const crumbled = 20;

const chunked = "transfer-encoding: chunked";
const announced = "content-length: 4000000";

const around = (json: string): string =>
  JSON.stringify(plain).replace('"arguments":{}', `"arguments":{"a":${json}}`);

/** `npm run test:attack` sends bodies close to the limit of 4 MiB. */
export const isFull: boolean = process.env["PARLEY_ATTACK"] === "full";
const half = isFull ? 1_900_000 : 400_000;
const hostileUri = `page:${"-".repeat(3_000)}/`;
const crumbs = Buffer.from("1\r\n \r\n".repeat(isFull ? 500_000 : 50_000));
const nested = around(`${"[".repeat(half)}${"]".repeat(half)}`);
const wide = around(`[${"[],".repeat(half / 2)}0]`);
const members = around(`{${Array.from({ length: half / 8 }, (_, n) => `"k${n}":0`).join()}}`);
const escaped = around(`"${String.raw`\"`.repeat(half)}"`);
const fill = Buffer.alloc(1_000_000, " ");

function posted(name: string, message: Message, body: string, known: number): Attack {
  return {
    name,
    known,
    once: async (target, token) => void (await sent(target, whole(target, message, token, body))),
  };
}

export const attacks: readonly Attack[] = [
  {
    name: "a body in many chunks of one byte, from the first packet on",
    known: crumbled,
    stranger: crumbled,
    once: async (target, token) => {
      const head = headOf(target, { message: plain, token, framing: chunked });
      await sent(target, Buffer.concat([Buffer.from(head), crumbs]));
      return undefined;
    },
  },
  {
    name: "a body in many chunks of one byte",
    isQuick: true,
    known: crumbled,
    stranger: crumbled,
    once: async (target, token) => {
      const { socket, status } = await sendTo(
        target,
        headOf(target, { message: plain, token, framing: chunked }),
      );
      socket.write(crumbs);
      await status;
      socket.destroy();
      return undefined;
    },
  },
  posted("JSON of very many levels", plain, nested, 200),
  posted("JSON of very many empty lists", plain, wide, 400),
  posted("JSON of very many members", plain, members, 400),
  posted("a text of very many escaped quotes", plain, escaped, 1_000),
  posted(
    "a URI with many ways to divide it",
    envelope("resources/read", { uri: hostileUri }),
    JSON.stringify(envelope("resources/read", { uri: hostileUri })),
    40,
  ),
  {
    name: "a body that never ends",
    isQuick: true,
    known: 100,
    once: async (target, token) => {
      const connection = await sendTo(
        target,
        headOf(target, { message: plain, token, framing: announced }),
      );
      await new Promise((resolve) => void connection.socket.write(fill, resolve));
      return connection;
    },
  },
  {
    name: "a body that is broken off",
    known: 100,
    once: async (target, token) => {
      const { socket } = await sendTo(
        target,
        headOf(target, { message: plain, token, framing: announced }),
      );
      await new Promise((resolve) => void socket.write(fill, resolve));
      socket.destroy();
      return undefined;
    },
  },
];
