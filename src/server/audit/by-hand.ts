// The audit of handlers that drive the rounds themselves: their questions have no digest and leave no entry, so the round
// that asks a question stands for its digest.

import type { InputRequest } from "../../protocol/input-required.ts";
import { shortDigest } from "../../token/canonical.ts";
import type { Json } from "../../util/json.ts";
import type { Call } from "../round/call.ts";
import type { CallAudit } from "./call-audit.ts";

const digestOf = (key: string, round: number): string => shortDigest(["by hand", key, round]);

/** Records what such a handler asks in this round. */
export function askedByHand(
  { round }: Pick<Call, "round">,
  requests: readonly (readonly [string, InputRequest])[],
  audit: CallAudit | undefined,
): Promise<void> | undefined {
  return audit?.asked(
    requests.map(([key, request]) => ({
      key,
      digest: digestOf(key, round),
      shown: { audited: auditedBy(request) },
    })),
  );
}

/** Records the answers to what it asked in the round before. Undefined if it asked nothing. */
export function answeredByHand(
  { lowLevel, answers, round }: Pick<Call, "lowLevel" | "answers" | "round">,
  audit: CallAudit | undefined,
): Promise<void> | undefined {
  const { asked } = lowLevel;
  if (asked.length === 0 || audit === undefined) return undefined;
  return asked.reduce<Promise<void>>(async (before, key) => {
    await before;
    const value = answers.get(key);
    if (value === undefined) return;
    const digest = digestOf(key, round - 1);
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it came from a request's JSON
    await audit.answered({ kind: "answer", key, digest, value: value as Json }, undefined);
  }, Promise.resolve());
}

function auditedBy(request: InputRequest): object {
  if (request.method !== "elicitation/create") return {};
  const { message, mode } = request.params;
  return { message, via: mode === "url" ? "url" : "form" };
}
