// What a token says and how it is written: one line of JSON for the head and one for the state. They are separate, so that
// the state is parsed only after the head has been checked against the request.

import { quote } from "./canonical.ts";
import { isCount, isFiniteNumber, isText, isTextOrAbsent, isWhole, members } from "./members.ts";

/** What a token is bound to. A request that differs in any of these may not use it. */
export interface Binding {
  readonly method: string;
  /** The tool's or the prompt's name, or the resource's URI. */
  readonly target: string;
  /** Of the arguments of the first request. */
  readonly argumentsDigest: string;
  /** The caller. Undefined on a server without authorization, which is different from every string. */
  readonly principal: string | undefined;
  /** The server that the token is for. */
  readonly audience: string;
}

/** Everything that a token says. */
export interface Claims<S> extends Binding {
  readonly callId: string;
  /** The round that made the token, counted from 1. */
  readonly round: number;
  /** How many more rounds the call may have. */
  readonly roundsLeft: number;
  /** When the token expires, in milliseconds since 1970. It is invalid from this moment on. */
  readonly expiresAt: number;
  readonly state: State<S>;
}

/** The state of the call, or where to find it. */
export type State<S> =
  | { readonly kind: "inline"; readonly value: S }
  /** The state was too large for the token and is in the store. */
  | { readonly kind: "spilled"; readonly pointer: string };

/** The claims with the state still as text. */
export interface Head extends Omit<Claims<never>, "state"> {
  readonly pointer: string | undefined;
  readonly stateText: string;
}

// A token with another number has another encoding and is refused. A new member needs a new number as well, because a
// server that does not know the member cannot know whether it may ignore it.
const format = 1;

/** Writes the claims as text. */
export function encodeClaims(claims: Claims<unknown>): string {
  const { state } = claims;
  const pointer = state.kind === "spilled" ? state.pointer : undefined;
  // It is better to fail here, where the mistake was made, than when the client sends the token back.
  if (!isSound(claims) || !isTextOrAbsent(pointer)) {
    throw new TypeError(
      "seal: these claims could not be opened again. round must be a whole number of at least 0, roundsLeft a whole number, expiresAt a finite number, and everything else a string.",
    );
  }
  return `${headText(claims, pointer)}\n${state.kind === "spilled" ? "" : stateText(state.value)}`;
}

/** Writes member by member, which is faster than building an object first, because most texts need no escapes. */
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

/** The text of the state in claims that `encodeClaims` has written. */
export const stateTextIn = (written: string): string => written.slice(written.indexOf("\n") + 1);

/** Reads the head. Undefined for anything that `encodeClaims` does not write in this format. */
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

/** Checks everything except the state. */
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

/** Reads the state. Undefined if it is not what the head says. */
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
  if (text === undefined)
    throw new TypeError(`seal: a state must be JSON, but this one is of type ${typeof value}`);
  return text;
}
