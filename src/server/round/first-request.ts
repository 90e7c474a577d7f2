// The first request of a call carries no token, so a copy of it starts another call. If the client sends a key, the id
// of the call is made from that key, and a copy finds the call in the store (R14).

import { invalidParams } from "../../protocol/error-codes.ts";
import {
  goodIdempotencyKey,
  idempotencyKeyMeta,
  isIdempotencyKey,
} from "../../protocol/idempotency-key.ts";
import { digest } from "../../token/canonical.ts";
import type { Binding } from "../../token/claims.ts";
import type { Core } from "../core.ts";
import type { Definition } from "../define/definition.ts";
import type { RoundRequest, RoundResponse } from "./request.ts";

/** The key of a first request, whatever value the client sent. Undefined if it did not send one. */
export const sentKey = ({ facts }: RoundRequest): unknown => facts.meta[idempotencyKeyMeta];

/** Whether the server recognises a first request of this tool that is sent again. */
export const isKnown = ({ once }: Pick<Definition, "once">, request: RoundRequest): boolean =>
  once === true && isIdempotencyKey(sentKey(request));

/** The id of the call that a first request begins. */
export function newCallId(
  { environment, store }: Core,
  definition: Definition,
  request: RoundRequest,
  binding: () => Binding,
): string {
  const id = isKnown(definition, request) ? keyedCallId(request, binding()) : environment.newId();
  return store?.idFor === undefined ? id : store.idFor(id, request.principal ?? "");
}

/**
 * The id of the call that a key begins. The same key of another caller, or for another tool, begins another call. The
 * arguments are not part of the id: with other arguments, the key is refused.
 */
function keyedCallId(
  request: RoundRequest,
  { method, target, principal, audience }: Binding,
): string {
  const whole = digest([
    "first request",
    audience,
    principal ?? null,
    method,
    target,
    sentKey(request),
  ]);
  return Buffer.from(whole, "base64url").toString("hex").slice(0, 32);
}

/** The response to a first request whose key is not valid. */
export const badKey: RoundResponse = {
  kind: "error",
  code: invalidParams,
  message: `_meta["${idempotencyKeyMeta}"] must be ${goodIdempotencyKey}.`,
  data: { reason: "bad_idempotency_key" },
};

/** The response to a first request whose key began another call. */
export const usedKey: RoundResponse = {
  kind: "error",
  code: invalidParams,
  message:
    "This idempotency key was used for a call with other arguments, or for a call that has gone further since. " +
    "Send the same arguments, continue that call from its newest requestState, or use a new key for a new call.",
  data: { reason: "idempotency_key_used" },
};
