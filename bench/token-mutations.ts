// Every known way to give `open` a token that it must refuse. The fuzz command uses all of them, and a test runs a part.
// Everything, including keys and nonces, is derived from one seed.

import type { RandomBytes } from "../src/token/random.ts";
import { digest } from "../src/token/canonical.ts";
import type { Claims } from "../src/token/claims.ts";
import { type Keyring, newKey, parseKeys } from "../src/token/keyring.ts";
import type { Expected } from "../src/token/open.ts";
import { seal } from "../src/token/seal.ts";
import { sealTicket } from "../src/token/ticket.ts";

export interface Attempt {
  readonly text: unknown;
  readonly keyring: Keyring;
  readonly expected: Expected;
}

/** A genuine token, and the request that may use it. */
export interface Sample extends Attempt {
  readonly text: string;
}

export interface Samples {
  /** Tokens that open. */
  readonly genuine: readonly Sample[];
  /** Tokens that were sealed with no rounds left. */
  readonly spent: readonly Sample[];
  readonly tickets: readonly Sample[];
  /** The ids in the key ring, and a ring with the same ids and other keys. */
  readonly ids: readonly string[];
  readonly impostor: Keyring;
  /** For each id, the ring without that key. */
  readonly without: ReadonlyMap<string, Keyring>;
}

/** A whole number from 0 up to, but not including, `below`. */
export type Random = (below: number) => number;

/** Mulberry32. 32 bits of state are enough to choose where to change a token. */
export function seeded(seed: number): Random {
  let state = seed | 0;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * below);
  };
}

export function makeSamples(random: Random): Samples {
  const bytes: RandomBytes = (size) => Uint8Array.from({ length: size }, () => random(256));
  const ids = ["2026-11", "2026-05", "k"];
  const keys = ids.map((id) => newKey(id, bytes));
  // The first key seals; the whole ring opens every sample.
  const sealers = keys.map((key) => parseKeys(key));
  const keyring = parseKeys(keys);
  const sample = (claims: Claims<unknown>, index: number, deflate = false): Sample => {
    const sealer = pick(sealers, () => index % sealers.length);
    const text = seal(claims, sealer, { deflate, randomBytes: bytes });
    return { text, keyring, expected: { ...claims, now: claims.expiresAt - 1 - random(600_000) } };
  };

  const requests = [
    { method: "tools/call", target: "resolve_bug", principal: "https://id.example alice" },
    { method: "tools/call", target: "Überweisung 💶", principal: undefined },
    { method: "prompts/get", target: "release_notes", principal: "" },
    { method: "resources/read", target: "file:///a/b?c#d", principal: "bob\ud800" },
  ];
  const genuine: Sample[] = [];
  for (const [index, request] of requests.entries()) {
    for (const [nth, entries] of [0, 1, 8, 20].entries()) {
      const state = Array.from({ length: entries }, (_, at) => entry(at, random));
      genuine.push(
        sample(claimsOf(request, index, { kind: "inline", value: state }), index + nth, nth === 3),
      );
    }
    genuine.push(sample(claimsOf(request, index, { kind: "spilled", pointer: "row-42" }), index));
  }
  const spent = requests.map((request, index) => {
    const claims = claimsOf(request, index, { kind: "inline", value: null });
    return sample({ ...claims, roundsLeft: -index }, index);
  });
  const tickets = genuine.slice(0, 3).map((one, index) => {
    const { audience, principal, now } = one.expected;
    const text = sealTicket(
      { kind: "url", callId: "c", key: "go", audience, principal, expiresAt: now + 60_000 },
      pick(sealers, () => index),
      { randomBytes: bytes },
    );
    return { ...one, text };
  });
  const without = new Map(
    ids.map((id) => [id, parseKeys(keys.filter((key) => !key.startsWith(`${id}:`)))]),
  );
  const impostor = parseKeys(ids.map((id) => newKey(id, bytes)));
  return { genuine, spent, tickets, ids, impostor, without };
}

type Mutation = (samples: Samples, random: Random, turn: number) => Attempt;

/** The mutations by class. `turn` counts the attempts of one class, for classes that go through every length. */
export const mutations: Readonly<Record<string, Mutation>> = {
  "bit flipped in the text": damaged((text, random) => {
    const at = random(text.length);
    return replaced(text, at, String.fromCharCode(text.charCodeAt(at) ^ (1 << random(8))));
  }),
  "bit flipped in the bytes": damaged((text, random) => {
    const { head, bytes } = taken(text);
    const at = random(bytes.length);
    bytes.writeUInt8(bytes.readUInt8(at) ^ (1 << random(8)), at);
    return written(head, bytes);
  }),
  "character changed": damaged((text, random) =>
    replaced(text, random(text.length), pick(alphabet, random)),
  ),
  "character made any other": damaged((text, random) =>
    replaced(text, random(text.length), String.fromCharCode(random(0x10000))),
  ),
  "character inserted": damaged((text, random) => {
    const at = random(text.length + 1);
    return text.slice(0, at) + pick(alphabet, random) + text.slice(at);
  }),
  "character deleted": damaged((text, random) => replaced(text, random(text.length), "")),
  "character duplicated": damaged((text, random) => {
    const at = random(text.length);
    return replaced(text, at, text.charAt(at).repeat(2));
  }),
  "characters swapped": damaged((text, random) =>
    swapped(text, random(text.length), random(text.length)),
  ),
  "neighbours swapped": damaged((text, random) => {
    const at = random(text.length - 1);
    return swapped(text, at, at + 1);
  }),
  "tail cut, every length": (samples, _random, turn) => {
    const { sample, length } = cut(samples, turn);
    return { ...sample, text: sample.text.slice(0, length) };
  },
  "head cut, every length": (samples, _random, turn) => {
    const { sample, length } = cut(samples, turn);
    return { ...sample, text: sample.text.slice(sample.text.length - length) };
  },
  "two texts spliced": grafted((text, donor, random) => {
    return text.slice(0, random(text.length)) + donor.slice(random(donor.length));
  }),
  "nonce, ciphertext or tag of another": grafted((text, donor, random) => {
    const { head, bytes } = taken(text);
    const part = random(3);
    const graft = pick(parts(taken(donor).bytes), () => part);
    return written(head, Buffer.concat(parts(bytes).with(part, graft)));
  }),
  "spare bits set": (samples, random) => {
    const spare = samples.genuine.filter(({ text }) => spareBits(text) > 0);
    const sample = pick(spare, random);
    const last = alphabet.indexOf(sample.text.slice(-1));
    const bits = 1 + random(2 ** spareBits(sample.text) - 1);
    return { ...sample, text: sample.text.slice(0, -1) + alphabet.charAt(last | bits) };
  },
  "padding and white space": damaged((text, random) => {
    const stray = pick(["=", "==", " ", "\n", "\r\n", "\t", "\0", "%3D", "\ufeff"], random);
    const at = pick([0, text.length, random(text.length)], random);
    return text.slice(0, at) + stray + text.slice(at);
  }),
  "the other base64 alphabet": damaged((text, random) =>
    pick(
      [() => text.replaceAll("-", "+"), () => text.replaceAll("_", "/"), () => `${text}+/`],
      random,
    )(),
  ),
  "more or fewer dots": damaged((text, random) => {
    const dots = [0, text.indexOf("."), text.lastIndexOf("."), text.length, random(text.length)];
    const at = pick(dots, random);
    return pick([replaced(text, at, ""), `${text.slice(0, at)}.${text.slice(at)}`], random);
  }),
  "other version word": damaged((text, random) => {
    const words = ["", "v0", "v2", "V1", "v01", "v1 ", "t1", "v", "1", "v1\0", "__proto__"];
    return pick(words, random) + text.slice(text.indexOf("."));
  }),
  "other key id of the ring": (samples, random, turn) =>
    damaged((text) => relabelled(text, pick(samples.ids, random)))(samples, random, turn),
  "unknown key id": damaged((text, random) => {
    const odd = ["", "__proto__", "constructor", "2026-1١", "K", "2026-11 ", "k".repeat(4000)];
    return relabelled(text, pick([...odd, noise(1 + random(32), random)], random));
  }),
  "a ticket": (samples, random) => {
    const sample = pick(samples.tickets, random);
    return { ...sample, text: pick([sample.text, sample.text.replace("t1", "v1")], random) };
  },
  "key removed from the ring": (samples, random) => {
    const sample = pick(samples.genuine, random);
    const id = sample.text.split(".").at(1) ?? "";
    return { ...sample, keyring: samples.without.get(id) ?? samples.impostor };
  },
  "same id, other key": (samples, random) => ({
    ...pick(samples.genuine, random),
    keyring: samples.impostor,
  }),

  "other tool": bound((expected, random) => ({ target: other(expected.target, random) })),
  "other method": bound((expected, random) => ({ method: other(expected.method, random) })),
  "other arguments": bound((expected, random) => ({
    argumentsDigest: pick(
      [digest({ id: random(1e9), more: true }), other(expected.argumentsDigest, random)],
      random,
    ),
  })),
  "other principal": bound(({ principal }, random) => ({
    principal:
      principal === undefined
        ? pick(["", "nobody", "undefined", noise(8, random)], random)
        : pick([() => undefined, () => other(principal, random)], random)(),
  })),
  "other server": bound((expected, random) => ({ audience: other(expected.audience, random) })),
  "late clock": (samples, random) => {
    const sample = pick(samples.genuine, random);
    const late = [expiresAt, expiresAt + 1, expiresAt + random(1e12), Infinity, Number.NaN];
    return { ...sample, expected: { ...sample.expected, now: pick(late, random) } };
  },
  "no rounds left": (samples, random) => pick(samples.spent, random),
  "everything else wrong": bound((expected, random) => ({
    method: other(expected.method, random),
    target: other(expected.target, random),
    principal: noise(9, random),
    audience: other(expected.audience, random),
    now: Infinity,
  })),

  "noise behind a real head": damaged((text, random, turn) => {
    return text.slice(0, text.lastIndexOf(".") + 1) + noise(turn % 3000, random);
  }),
  "noise of every length": damaged((_text, random, turn) => noise(turn % 3000, random)),
  "random bytes as text": damaged((_text, random, turn) => codes(turn % 500, 0x100, random)),
  "random code units": damaged((_text, random, turn) => codes(turn % 500, 0x10000, random)),
  "not text": (samples, random) => {
    const sample = pick(samples.genuine, random);
    return { ...sample, text: pick(notTexts(sample.text), random)() };
  },
  "too long": damaged((text, random) => text.padEnd(32 * 1024 + 1, noise(64, random))),
};

/** How many turns a class needs to cut at every length. */
export function cuts({ genuine }: Samples): number {
  return genuine.reduce((sum, { text }) => sum + text.length, 0);
}

export function pick<T>(from: ArrayLike<T>, random: Random): T {
  const found = from[random(from.length)];
  if (found === undefined) throw new RangeError("pick() needs at least one item.");
  return found;
}

/** In place. */
export function shuffle(list: unknown[], random: Random): void {
  for (let left = list.length; left > 1; left--) {
    const at = random(left);
    [list[left - 1], list[at]] = [list[at], list[left - 1]];
  }
}

const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
const expiresAt = 1_800_000_000_000;

function claimsOf(
  request: Pick<Expected, "method" | "target" | "principal">,
  index: number,
  state: Claims<unknown>["state"],
): Claims<unknown> {
  return {
    ...request,
    argumentsDigest: digest({ id: index }),
    audience: "tracker",
    callId: `call-${index}`,
    round: index + 1,
    roundsLeft: 10 - index,
    expiresAt,
    state,
  };
}

function entry(at: number, random: Random): unknown {
  return { key: `step-${at}`, kind: "step", ok: { text: noise(60, random) } };
}

// A mutation that changes nothing, or that happens to give another sample, is not an attack. It is tried again.
function damaged(change: (text: string, random: Random, turn: number) => string): Mutation {
  return (samples, random, turn) => {
    for (let tries = 0; tries < 1000; tries++) {
      const sample = pick(samples.genuine, random);
      const text = change(sample.text, random, turn);
      if (!samples.genuine.some((one) => one.text === text)) return { ...sample, text };
    }
    throw new Error("A mutation left a thousand tokens unchanged.");
  };
}

function grafted(change: (text: string, donor: string, random: Random) => string): Mutation {
  return (samples, random, turn) => {
    const donor = pick(samples.genuine, random).text;
    return damaged((text) => change(text, donor, random))(samples, random, turn);
  };
}

function bound(change: (expected: Expected, random: Random) => Partial<Expected>): Mutation {
  return (samples, random) => {
    const sample = pick(samples.genuine, random);
    return { ...sample, expected: { ...sample.expected, ...change(sample.expected, random) } };
  };
}

/** A different text, usually one that is easily mistaken for the given one. */
function other(text: string, random: Random): string {
  const near = [
    `${text} `,
    `${text}\0`,
    `${text}${text}`,
    text.slice(0, -1),
    text.slice(1),
    text.toUpperCase(),
    text.normalize("NFD"),
    Buffer.from(text).toString(),
    "",
    noise(text.length, random),
  ].filter((one) => one !== text);
  return pick(near, random);
}

function noise(length: number, random: Random): string {
  return Array.from({ length }, () => alphabet.charAt(random(64))).join("");
}

function codes(length: number, below: number, random: Random): string {
  return String.fromCharCode(...Array.from({ length }, () => random(below)));
}

function replaced(text: string, at: number, by: string): string {
  return text.slice(0, at) + by + text.slice(at + 1);
}

function swapped(text: string, left: number, right: number): string {
  return replaced(replaced(text, left, text.charAt(right)), right, text.charAt(left));
}

function taken(text: string): { head: string; bytes: Buffer } {
  const headEnd = text.lastIndexOf(".");
  return { head: text.slice(0, headEnd), bytes: Buffer.from(text.slice(headEnd + 1), "base64url") };
}

function written(head: string, bytes: Buffer): string {
  return `${head}.${bytes.toString("base64url")}`;
}

function relabelled(text: string, id: string): string {
  return `v1.${id}${text.slice(text.lastIndexOf("."))}`;
}

function parts(bytes: Buffer): readonly Buffer[] {
  return [bytes.subarray(0, 12), bytes.subarray(12, -16), bytes.subarray(-16)];
}

function spareBits(text: string): number {
  return [0, Number.NaN, 4, 2].at((text.length - text.lastIndexOf(".") - 1) % 4) ?? 0;
}

function cut({ genuine }: Samples, turn: number): { sample: Sample; length: number } {
  let length = turn;
  for (;;) {
    for (const sample of genuine) {
      if (length < sample.text.length) return { sample, length };
      length -= sample.text.length;
    }
  }
}

function notTexts(text: string): readonly (() => unknown)[] {
  const traps = new Proxy({}, { get: () => explode });
  return [
    () => undefined,
    () => null,
    () => Number.NaN,
    () => 1n,
    () => Symbol("token"),
    () => () => text,
    () => [text],
    () => ({ text }),
    // Behaves like the text, except for `typeof`.
    () => new String(text),
    () => Buffer.from(text),
    () => ({ toString: explode, valueOf: explode, toJSON: explode, [Symbol.toPrimitive]: explode }),
    () => Object.defineProperty({}, "length", { get: explode }),
    () => new Proxy({}, traps),
  ];
}

function explode(): never {
  throw new Error("touched");
}
