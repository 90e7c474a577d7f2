// Opens a token that `seal` made, or throws TokenError.
//
//   O1. It throws no other error, and the message is always the same.
//   O2. Everything is checked before anything is decided, so that neither the text nor the time of a response shows which
//       check failed. The time may show that this process has sealed the token.
//   O3. The state is parsed last, and only for a request that may have it.

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
import { sameText } from "./exact-text.ts";
import { defaultMaxBytes, maxInflatedBytes, unpack } from "./payload.ts";
import { claimsIn } from "./recent-tokens.ts";
import type { RecentTokens } from "./recent-tokens.ts";

/** The request that came with the token. The token must have been sealed for it. */
export interface Expected extends Binding {
  /** In milliseconds since 1970. */
  readonly now: number;
  /** The largest token that is opened, at least what `seal` allowed. Default: 32 KiB. */
  readonly maxBytes?: number | undefined;
  /** What this process has sealed under the same keyring. */
  readonly recent?: RecentTokens | undefined;
}

/** Opens a token. The state is not checked to be an `S`, because only a holder of the key can have sealed it. */
export function open<S>(text: unknown, keyring: Keyring, expected: Expected): Claims<S> {
  let outcome: Outcome<S>;
  try {
    outcome = attempt<S>(text, keyring, expected);
  } catch (cause) {
    // This is a bug. The caller gets the usual error (O1), and the log has the cause.
    throw new TokenError("internal", { cause });
  }
  if (outcome.kind === "refused") throw new TokenError(outcome.reason);
  return outcome.claims;
}

type Outcome<S> =
  | { readonly kind: "opened"; readonly claims: Claims<S> }
  | { readonly kind: "refused"; readonly reason: TokenReason };

function attempt<S>(text: unknown, keyring: Keyring, expected: Expected): Outcome<S> {
  // These may be refused early, because the sender knows them anyway.
  const maxBytes = expected.maxBytes ?? defaultMaxBytes;
  if (typeof text !== "string") return { kind: "refused", reason: "not_text" };
  if (text.length > maxBytes) return { kind: "refused", reason: "too_long" };

  const sealedHere = expected.recent?.take(text);
  if (sealedHere !== undefined) {
    const reason = firstWrong(sealedHere.claims, expected);
    if (reason !== undefined) return { kind: "refused", reason };
    return { kind: "opened", claims: claimsIn<S>(sealedHere) };
  }

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

// Member by member, because a spread would cost as much as the parsing before it.
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

/** The most alarming reason to refuse, if there are several. Every check runs, whatever the others found (O2). */
function firstWrong(
  head: Omit<Claims<unknown>, "state">,
  expected: Expected,
): TokenReason | undefined {
  const isAudience = sameText(head.audience, expected.audience);
  const isPrincipal = samePrincipal(head.principal, expected.principal);
  const isMethod = sameText(head.method, expected.method);
  const isTarget = sameText(head.target, expected.target);
  const isArguments = sameText(head.argumentsDigest, expected.argumentsDigest);
  // With `now >= expiresAt`, a clock that returns NaN would make tokens last forever.
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

/** No principal is not the same as a principal with an empty name. */
function samePrincipal(left: string | undefined, right: string | undefined): boolean {
  const isSame = sameText(left ?? "", right ?? "");
  return isSame && (left === undefined) === (right === undefined);
}

// These claims are checked if the token cannot be read, so that a refusal takes the same time (O2).
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
