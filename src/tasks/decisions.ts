// Decisions about approvals, sealed and opened. Each is sealed for its approval in its wording and for its person, so that
// nobody with access to the database can add one, change one or move one elsewhere.

import type { Json } from "../util/json.ts";
import { MovedRecordError } from "./ownership.ts";
import { openAnswer, openJson, places, sealJson } from "./sealing.ts";
import type { OpenedAnswer, Sealer } from "./sealing.ts";
import type { Arrival, Sealed, StoredDecision } from "./task.ts";

/** What one person decided. */
export interface Decided {
  readonly who: string;
  readonly isApproved: boolean;
  /** In milliseconds since 1970. */
  readonly at: number;
  /** How the decision came. */
  readonly via: string;
  readonly note?: string | undefined;
}

/** Seals a decision. The store adds the time. */
export function sealDecision(
  sealer: Sealer,
  callId: string,
  wire: string,
  { who, isApproved, via, note }: Omit<Decided, "at">,
): Sealed {
  const value = { who, isApproved, via, ...(note === undefined ? {} : { note }) };
  return sealJson(sealer, value, places.decision(callId, wire, who));
}

/** Opens decisions about the approval with this wire key. */
export function openDecisions(
  sealer: Sealer,
  callId: string,
  wire: string,
  decisions: readonly StoredDecision[],
): readonly Decided[] {
  return decisions.map(({ who, approves, value, at }) => {
    const opened = openJson(sealer, value, places.decision(callId, wire, who));
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- sealed by `sealDecision`
    const decided = opened as unknown as Omit<Decided, "at">;
    if (decided.isApproved !== approves) {
      throw new MovedRecordError(`What "${who}" decided differs from what was sealed`);
    }
    return { ...decided, at };
  });
}

/** Opens what has arrived: an answer, or the decisions about an approval. */
export function openArrival(sealer: Sealer, callId: string, arrived: Arrival): OpenedAnswer {
  const { id, decisions } = arrived;
  if (decisions === undefined) return openAnswer(sealer, callId, arrived.value, arrived);
  const opened = { decisions: openDecisions(sealer, callId, id, decisions) };
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- made of JSON
  return { value: opened as unknown as Json, from: {} };
}
