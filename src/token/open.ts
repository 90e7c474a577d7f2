// Opens what `seal` sealed, or throws TokenError.
//
//   O1. Nothing else is ever thrown, and its message is always the same.
//   O2. Everything is checked before anything is decided, so that neither the text nor the time of an
//       answer tells which check failed.
//   O3. The state is parsed last, for a request that may have it.

import {
  type Binding,
  type Claims,
  decodeHead,
  decodeState,
  encodeClaims,
  type Head,
} from "./claims.ts";
import { TokenError, type TokenReason } from "./errors.ts";
import { read } from "./format.ts";
import type { Keyring } from "./keyring.ts";
import { unpack } from "./payload.ts";
import { sameText } from "./same-text.ts";
import { defaultMaxBytes, maxInflatedBytes } from "./size.ts";

/** What the request at hand is, which the token must have been sealed for. */
export interface Expected extends Binding {
  readonly now: number;
  /** Of the token's text: at least what `seal` was given. */
  readonly maxBytes?: number | undefined;
}

/** The state is taken to be an `S` unchecked: only a holder of the key can have sealed it. */
export function open<S>(text: unknown, keyring: Keyring, expected: Expected): Claims<S> {
  let outcome: Outcome<S>;
  try {
    outcome = attempt<S>(text, keyring, expected);
  } catch (cause) {
    // A bug of ours: still one answer outward (O1), and the log has the cause.
    throw new TokenError("internal", { cause });
  }
  if (outcome.kind === "refused") throw new TokenError(outcome.reason);
  return outcome.claims;
}

type Outcome<S> =
  | { readonly kind: "opened"; readonly claims: Claims<S> }
  | { readonly kind: "refused"; readonly reason: TokenReason };

function attempt<S>(text: unknown, keyring: Keyring, expected: Expected): Outcome<S> {
  // Whoever sent these knows it, so they may be refused early.
  const maxBytes = expected.maxBytes ?? defaultMaxBytes;
  if (typeof text !== "string") return { kind: "refused", reason: "not_text" };
  if (text.length > maxBytes) return { kind: "refused", reason: "too_long" };

  const reading = read("v1", text, keyring);
  const plain =
    reading.kind === "read" ? unpack(reading.payload, maxInflatedBytes(maxBytes)) : undefined;
  const head = decodeHead(plain ?? decoy);
  const wrong = head && firstWrong(head, expected);

  if (reading.kind === "refused") return reading;
  if (plain === undefined || head === undefined) return { kind: "refused", reason: "malformed" };
  if (wrong !== undefined) return { kind: "refused", reason: wrong };
  const state = decodeState<S>(head);
  if (state === undefined) return { kind: "refused", reason: "malformed" };
  return { kind: "opened", claims: claimsOf(head, state) };
}

// Member by member: a round opens one of these, and a spread costs as much as the parsing before it.
function claimsOf<S>(head: Head, state: Claims<S>["state"]): Claims<S> {
  return {
    callId: head.callId,
    round: head.round,
    roundsLeft: head.roundsLeft,
    expiresAt: head.expiresAt,
    method: head.method,
    target: head.target,
    argumentsDigest: head.argumentsDigest,
    principal: head.principal,
    audience: head.audience,
    state,
  };
}

/** The most alarming one, where there are several. All are looked at, whatever the first of them says (O2). */
function firstWrong(head: Head, expected: Expected): TokenReason | undefined {
  const isAudience = sameText(head.audience, expected.audience);
  const isPrincipal = samePrincipal(head.principal, expected.principal);
  const isMethod = sameText(head.method, expected.method);
  const isTarget = sameText(head.target, expected.target);
  const isArguments = sameText(head.argumentsDigest, expected.argumentsDigest);
  // Not `now >= expiresAt`: a clock that gives NaN must not make tokens last for ever.
  const isInTime = expected.now < head.expiresAt;
  const hasRoundsLeft = head.roundsLeft > 0;
  if (!isAudience) return "audience";
  if (!isPrincipal) return "principal";
  if (!isMethod) return "method";
  if (!isTarget) return "target";
  if (!isArguments) return "arguments";
  if (!isInTime) return "expired";
  return hasRoundsLeft ? undefined : "rounds_spent";
}

/** Nobody is not the principal with the empty name. */
function samePrincipal(left: string | undefined, right: string | undefined): boolean {
  const isSame = sameText(left ?? "", right ?? "");
  return isSame && (left === undefined) === (right === undefined);
}

// Checked in place of what could not be read (O2).
const decoy = encodeClaims({
  callId: "0".repeat(32),
  round: 1,
  roundsLeft: 1,
  expiresAt: 1e13,
  method: "tools/call",
  target: "decoy",
  argumentsDigest: "0".repeat(43),
  principal: "decoy",
  audience: "decoy",
  state: { kind: "inline", value: null },
});
