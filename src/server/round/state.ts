// What a call remembers between two rounds, and its packed form inside the token.

import type { InboxEvent } from "../../replay/inbox.ts";
import { packEntry, packSender, unpackEntry } from "../../replay/journal.ts";
import type { Entry, Out, PackedEntry } from "../../replay/journal.ts";
import type { Ability, ExtensionId } from "../../protocol/capabilities.ts";
import { modernVersion } from "../../protocol/versions.ts";
import type { Era } from "../../protocol/versions.ts";
import { noLowLevelState } from "../context/low-level.ts";
import type { LowLevelState } from "../context/low-level.ts";
import { formsOnly } from "./ways.ts";
import type { OpenWays } from "./ways.ts";
import type { SpanContext } from "../../util/open-telemetry.ts";

/** The state of a call after a round. */
export interface CallState {
  readonly entries: readonly Entry[];
  /** The questions and timers that were open when the round ended. */
  readonly out: readonly OpenWait[];
  readonly abilities: readonly (Ability | ExtensionId)[];
  readonly ways: OpenWays;
  /** The protocol version of the call's first request. */
  readonly era: Era;
  /** Answers that the handler has not asked for yet in this version of its code. */
  readonly unused: readonly InboxEvent[];
  readonly lowLevel: LowLevelState;
  /** The digest of the parsed arguments. Undefined if JSON cannot hold them. */
  readonly inputDigest: string | undefined;
  /** The span of the call's first round. Later rounds link to it. */
  readonly firstSpan: SpanContext | undefined;
  /** The version of the app whose code has gone this far (R17). Undefined if version 0.1.0 wrote the state. */
  readonly version: string | undefined;
  /** How many rounds in a row were left to another version. */
  readonly yields: number;
  /** When the questions were asked, in milliseconds since 1970. Kept only for metrics, and only if they are collected. */
  readonly askedAt: number | undefined;
}

/** An open question or timer. */
export interface OpenWait extends Out {
  /** When its time limit passes, or the timer is due. Undefined without a limit. */
  readonly dueAt: number | undefined;
  /** How many times it has been asked. Set only if a page brings the answer. */
  readonly asked?: number | undefined;
  /** Set if someone other than the client answers it, so that what the client says does not count. */
  readonly isExternal?: true | undefined;
}

/** The state as the token holds it. The names are short, because each byte travels twice in every round. */
export interface PackedState {
  readonly e: readonly PackedEntry[];
  readonly o: readonly (readonly [key: string, digest: string | null, dueAt?: number])[];
  readonly a: readonly (Ability | ExtensionId)[];
  readonly u?:
    | readonly (readonly [
        key: string,
        digest: string,
        value: unknown,
        ...sender: readonly string[],
      ])[]
    | undefined;
  readonly l?: LowLevelState | undefined;
  readonly i?: string | undefined;
  /** Left out for 2026-07-28, and by version 0.1.0 for every protocol version. */
  readonly v?: Era | undefined;
  readonly t?: readonly [traceId: string, spanId: string, flags: number] | undefined;
  readonly w?: number | undefined;
  /** The version of the app. Left out by version 0.1.0. */
  readonly p?: string | undefined;
  readonly y?: number | undefined;
  /** The ways of questions. Left out if they are the client's forms at most, and by version 0.1.0. */
  readonly r?: OpenWays | undefined;
  /** The questions that have a page, and how many times each has been asked. */
  readonly m?: readonly (readonly [key: string, asked: number])[] | undefined;
  /** The questions that the client does not answer. */
  readonly x?: readonly string[] | undefined;
}

/** The state as the token holds it. */
export function packState(state: CallState): PackedState {
  const { entries, out, abilities, era, unused, lowLevel, inputDigest, firstSpan, askedAt } = state;
  const { version, yields, ways } = state;
  // JSON leaves out what is undefined. Written out, because this runs in every round and spreads are slow.
  return {
    e: entries.map(packEntry),
    o: out.map(({ key, digest = null, dueAt }) =>
      dueAt === undefined ? [key, digest] : [key, digest, dueAt],
    ),
    a: abilities,
    u: unused.length === 0 ? undefined : unlessEmpty(unused.flatMap(packUnused)),
    l: lowLevel === noLowLevelState ? undefined : lowLevel,
    i: inputDigest,
    v: era === modernVersion ? undefined : era,
    t: firstSpan && [firstSpan.traceId, firstSpan.spanId, firstSpan.traceFlags],
    w: askedAt,
    p: version,
    y: yields === 0 ? undefined : yields,
    r: ways === formsOnly(abilities) ? undefined : ways,
    m: out.some(hasPage)
      ? out.flatMap(({ key, asked }) => (asked === undefined ? [] : [[key, asked] as const]))
      : undefined,
    x: out.some(isLeftToOthers) ? out.filter(isLeftToOthers).map(({ key }) => key) : undefined,
  };
}

const hasPage = ({ asked }: OpenWait): boolean => asked !== undefined;
const isLeftToOthers = ({ isExternal }: OpenWait): boolean => isExternal === true;

const unlessEmpty = <T>(list: readonly T[]): readonly T[] | undefined =>
  list.length === 0 ? undefined : list;

type PackedUnused = NonNullable<PackedState["u"]>[number];

const packUnused = (event: InboxEvent): readonly PackedUnused[] =>
  event.kind === "answer" && event.digest !== undefined
    ? [[event.key, event.digest, event.value, ...packSender(event)]]
    : [];

/** Throws a TypeError for a state in a form that this version does not write. */
export function unpackState(packed: PackedState): CallState {
  const { e, o, a, u = [], l = noLowLevelState, i, v = modernVersion, t, w, p, y = 0, r } = packed;
  if (!Array.isArray(e) || !Array.isArray(o) || !Array.isArray(a) || !Array.isArray(u)) {
    throw new TypeError("This version did not write this state.");
  }
  const asked = packed.m && new Map(packed.m);
  return {
    entries: e.map(unpackEntry),
    out: o.map(([key, digest, dueAt]) => {
      const wait = { key, digest: digest ?? undefined, dueAt };
      if (packed.x?.includes(key) === true) return { ...wait, isExternal: true };
      return asked?.has(key) === true ? { ...wait, asked: asked.get(key) } : wait;
    }),
    abilities: a,
    ways: r ?? formsOnly(a),
    era: v,
    unused: u.map(unpackUnused),
    lowLevel: l,
    inputDigest: i,
    firstSpan: t && { traceId: t[0], spanId: t[1], traceFlags: t[2] },
    askedAt: w,
    version: p,
    yields: y,
  };
}

function unpackUnused(packed: readonly unknown[]): InboxEvent {
  const entry = unpackEntry(["a", ...packed]);
  if (entry.kind !== "answer") throw new TypeError("The state has an answer in an unknown form.");
  return entry;
}
