// What a token says, and how that is written: one line of JSON for the head, one for the state. They are
// apart so that a state is parsed only once its head has been checked against the request.

import { quote } from "./canonical.ts";
import { isCount, isFiniteNumber, isText, isTextOrAbsent, isWhole, members } from "./members.ts";

/** What a token is bound to. A request that differs in any of it may not use the token. */
export interface Binding {
  readonly method: string;
  /** The tool's or the prompt's name, or the resource's URI. */
  readonly target: string;
  readonly argumentsDigest: string;
  /** Undefined on a server without authorisation, which is not the same as any text. */
  readonly principal: string | undefined;
  readonly audience: string;
}

export interface Claims<S> extends Binding {
  readonly callId: string;
  readonly round: number;
  readonly roundsLeft: number;
  /** Milliseconds since 1970. At this moment the token is expired. */
  readonly expiresAt: number;
  readonly state: State<S>;
}

export type State<S> =
  | { readonly kind: "inline"; readonly value: S }
  | { readonly kind: "spilled"; readonly pointer: string };

/** The claims but for an inline state, which is still text. */
export interface Head extends Omit<Claims<never>, "state"> {
  readonly pointer: string | undefined;
  readonly stateText: string;
}

// Another number is another encoding, and is refused. Adding a member needs a new number too: a server
// that does not know a member cannot know that it may be ignored.
const format = 1;

export function encodeClaims(claims: Claims<unknown>): string {
  const { state } = claims;
  const pointer = state.kind === "spilled" ? state.pointer : undefined;
  // Better here, at the server's own mistake, than when the client's answer comes back.
  if (!isSound(claims) || !isTextOrAbsent(pointer)) {
    throw new TypeError(
      "seal: these claims could not be opened again; round must be a whole number from 0, roundsLeft a whole number, expiresAt a finite one, the rest text",
    );
  }
  return `${headText(claims, pointer)}\n${state.kind === "spilled" ? "" : stateText(state.value)}`;
}

/** Written out member by member: most texts here need no escaping, and to make an object of them first takes longer. */
function headText(claims: Claims<unknown>, pointer: string | undefined): string {
  const { callId, round, roundsLeft, expiresAt, method, target } = claims;
  const { argumentsDigest, principal, audience } = claims;
  return (
    `{"f":${format},"c":${quote(callId)},"r":${round},"l":${roundsLeft},"x":${expiresAt}` +
    `,"m":${quote(method)},"t":${quote(target)},"a":${quote(argumentsDigest)}` +
    (principal === undefined ? "" : `,"p":${quote(principal)}`) +
    `,"u":${quote(audience)}` +
    (pointer === undefined ? "}" : `,"s":${quote(pointer)}}`)
  );
}

/** Undefined for anything that `encodeClaims` of this format does not write. */
export function decodeHead(text: string): Head | undefined {
  const headEnd = text.indexOf("\n");
  const written = members(text.slice(0, headEnd));
  for (const name in written) if (!known.has(name)) return undefined;
  const { f, c, r, l, x, m, t, a, p, u, s } = written;
  const head = {
    callId: c,
    round: r,
    roundsLeft: l,
    expiresAt: x,
    method: m,
    target: t,
    argumentsDigest: a,
    principal: p,
    audience: u,
    pointer: s,
    stateText: text.slice(headEnd + 1),
  };
  return headEnd !== -1 && f === format && isHead(head) ? head : undefined;
}

function isHead(head: Unchecked<Head>): head is Head {
  return isSound(head) && isTextOrAbsent(head.pointer);
}

const known = new Set(["f", "c", "r", "l", "x", "m", "t", "a", "p", "u", "s"]);

type Unchecked<T> = { readonly [K in keyof T]: unknown };

/** All but the state. */
function isSound(head: Unchecked<Omit<Claims<never>, "state">>): boolean {
  return (
    isCount(head.round) &&
    isWhole(head.roundsLeft) &&
    isFiniteNumber(head.expiresAt) &&
    isText(head.callId) &&
    isText(head.method) &&
    isText(head.target) &&
    isText(head.argumentsDigest) &&
    isText(head.audience) &&
    isTextOrAbsent(head.principal)
  );
}

/** Undefined where the state is not what the head promises. */
export function decodeState<S>(head: Head): State<S> | undefined {
  if (head.pointer !== undefined) {
    return head.stateText === "" ? { kind: "spilled", pointer: head.pointer } : undefined;
  }
  try {
    const value: S = JSON.parse(head.stateText);
    return { kind: "inline", value };
  } catch {
    return undefined;
  }
}

function stateText(value: unknown): string {
  const text: string | undefined = JSON.stringify(value);
  if (text === undefined) throw new TypeError(`seal: a state is JSON, got ${typeof value}`);
  return text;
}
