// What a call remembers between two rounds, and its packed form inside the token.

import type { InboxEvent } from "../../replay/inbox.ts";
import { packEntry, unpackEntry } from "../../replay/journal.ts";
import type { Entry, Out, PackedEntry } from "../../replay/journal.ts";
import type { Ability } from "../../protocol/capabilities.ts";
import { noLowLevelState } from "../context/low-level.ts";
import type { LowLevelState } from "../context/low-level.ts";
import type { SpanContext } from "../ops/telemetry.ts";

export interface CallState {
  readonly entries: readonly Entry[];
  readonly out: readonly PutOut[];
  readonly abilities: readonly Ability[];
  /** Answers that came before the handler asked for them again. */
  readonly unused: readonly InboxEvent[];
  readonly lowLevel: LowLevelState;
  /** Of what the schema made of the arguments, where JSON can hold it. */
  readonly inputDigest: string | undefined;
  /** The span of the call's first round, to which the later ones are linked. */
  readonly firstSpan: SpanContext | undefined;
}

export interface PutOut extends Out {
  /** When its time is up, if it has a limit. */
  readonly dueAt: number | undefined;
}

/** Short names: every byte of it travels twice a round. */
export interface PackedState {
  readonly e: readonly PackedEntry[];
  readonly o: readonly (readonly [key: string, digest: string | null, dueAt?: number])[];
  readonly a: readonly Ability[];
  readonly u?: readonly (readonly [key: string, digest: string, value: unknown])[];
  readonly l?: LowLevelState;
  readonly i?: string;
  readonly t?: readonly [traceId: string, spanId: string, flags: number];
}

export function packState(state: CallState): PackedState {
  const { entries, out, abilities, unused, lowLevel, inputDigest, firstSpan } = state;
  const kept = unused.flatMap((event) =>
    event.kind === "answer" && event.digest !== undefined
      ? [[event.key, event.digest, event.value] as const]
      : [],
  );
  return {
    e: entries.map(packEntry),
    o: out.map(({ key, digest = null, dueAt }) =>
      dueAt === undefined ? [key, digest] : [key, digest, dueAt],
    ),
    a: abilities,
    ...(kept.length === 0 ? {} : { u: kept }),
    ...(lowLevel === noLowLevelState ? {} : { l: lowLevel }),
    ...(inputDigest === undefined ? {} : { i: inputDigest }),
    ...(firstSpan === undefined
      ? {}
      : { t: [firstSpan.traceId, firstSpan.spanId, firstSpan.traceFlags] }),
  };
}

/** Throws a TypeError for a state that another version has written. */
export function unpackState(packed: PackedState): CallState {
  const { e, o, a, u = [], l = noLowLevelState, i, t } = packed;
  if (!Array.isArray(e) || !Array.isArray(o) || !Array.isArray(a) || !Array.isArray(u)) {
    throw new TypeError("state: not one this version has written");
  }
  return {
    entries: e.map(unpackEntry),
    out: o.map(([key, digest, dueAt]) => ({ key, digest: digest ?? undefined, dueAt })),
    abilities: a,
    unused: u.map(([key, digest, value]) => unpackUnused(key, digest, value)),
    lowLevel: l,
    inputDigest: i,
    firstSpan: t && { traceId: t[0], spanId: t[1], traceFlags: t[2] },
  };
}

function unpackUnused(key: string, digest: string, value: unknown): InboxEvent {
  const entry = unpackEntry(["a", key, digest, value]);
  if (entry.kind !== "answer") throw new TypeError("state: an answer that is none");
  return entry;
}
