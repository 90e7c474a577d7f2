// The journal: everything that a handler has learnt so far in this call. Entries have keys, so that an operation finds its
// own, and an order, so that a race has the same winner in every run.

import type { Json } from "../util/json.ts";

/** One thing that the handler has learnt. */
export type Entry =
  /** The client's raw answer, with a digest of the question that it answers. */
  | ({
      readonly kind: "answer";
      readonly key: string;
      readonly value: Json;
      readonly digest: string;
    } & Sender)
  /** A question whose time limit passed before an answer came. */
  | { readonly kind: "expired"; readonly key: string; readonly digest: string }
  /** A step that has an undo, before its body starts (R16). The name is that of the undo. It settles nothing. */
  | { readonly kind: "begun"; readonly key: string; readonly undo: string }
  /** What a step's body returned. The value is undefined if it returned nothing. */
  | {
      readonly kind: "step";
      readonly key: string;
      readonly value: Json | undefined;
      /** Its value is a text or a list of content blocks, which the client was sent while the body produced it. */
      readonly isStream?: true;
    }
  /** What remains of the error that a step's body threw. */
  | { readonly kind: "threw"; readonly key: string; readonly error: Thrown }
  /** A sleep that is over. */
  | { readonly kind: "timer"; readonly key: string }
  /** A `background()` that the handler has passed. */
  | { readonly kind: "background"; readonly key: string }
  /** A `checkpoint()` that the handler has passed. */
  | { readonly kind: "checkpoint"; readonly key: string }
  /** A note that the wording of this question has changed once (R7). It is never delivered. */
  | { readonly kind: "changed"; readonly key: string }
  /** A note about which path of `patched` this call takes (R17). It is never delivered. The last one for a key counts. */
  | { readonly kind: "patched"; readonly key: string; readonly path: PatchPath };

/**
 * "new": the call takes the new path. "old": code that does not know the note has gone on without it. "open": the call took
 * the new path, and the log was cut before that; it takes the path again if it gets there.
 */
export type PatchPath = "new" | "old" | "open";

/** How an answer came, for the audit. Nothing else depends on it. Version 0.1.0 kept neither. */
export interface Sender {
  /** The way that it came, such as "form". */
  readonly via?: string | undefined;
  /** Who gave it, if that is known and not the caller. */
  readonly who?: string | undefined;
}

/** The members of a sender that are set. */
function senderOf({ via, who }: Sender): Sender {
  if (via === undefined) return who === undefined ? unknownSender : { who };
  return who === undefined ? { via } : { via, who };
}

const unknownSender: Sender = {};

/** An entry that settles a question. */
export type AnswerEntry = Extract<Entry, { kind: "answer" | "expired" }>;

/** The parts of an error that survive JSON. */
export interface Thrown {
  readonly name: string;
  readonly message: string;
  readonly code?: string | number;
  readonly data?: Json;
  /** The author did not choose the text: the language or the system threw the error. */
  readonly isUnintended?: true;
}

/** A question or timer that was open when the last run ended. */
export interface Out {
  readonly key: string;
  /** Undefined for a timer. */
  readonly digest: string | undefined;
}

/** What a run starts with. */
export interface Journal {
  readonly entries: readonly Entry[];
  /** The questions and timers that the last run waited for. */
  readonly out: readonly Out[];
}

/** The journal of a call's first run. */
export const emptyJournal: Journal = { entries: [], out: [] };

/** Whether the entry shows that something happened outside the handler, which no replay can take back. */
export function isEffect(entry: Entry): boolean {
  const { kind } = entry;
  return kind === "step" || kind === "threw" || kind === "background" || kind === "begun";
}

/** Whether the entry settles a question. */
export function isAnswer(entry: Entry | undefined): entry is AnswerEntry {
  return entry?.kind === "answer" || entry?.kind === "expired";
}

/** Which path of each `patched` this call takes, as far as that is noted (R17). */
export function patchPaths(entries: readonly Entry[]): ReadonlyMap<string, PatchPath> {
  const paths = new Map<string, PatchPath>();
  for (const entry of entries) {
    if (entry.kind === "patched") paths.set(entry.key, entry.path);
  }
  return paths;
}

/** The keys of `patched` whose new path this call takes. */
export function patchedKeys(entries: readonly Entry[]): readonly string[] {
  const paths = patchPaths(entries);
  return paths.size === 0 ? none : [...paths.keys()].filter((key) => paths.get(key) === "new");
}

const none: readonly never[] = [];

/** Whether the entry is a note, which no operation waits for. A cut leaves it in the log. */
export function isNote({ kind }: Entry): boolean {
  return kind === "changed" || kind === "patched";
}

// ---------------------------------------------------------------- at rest

/** An entry as tokens and task logs keep it: an array that starts with a letter for its kind. */
export type PackedEntry = readonly [letter: string, key: string, ...rest: unknown[]];

/** Writes an entry in its stored form. */
export function packEntry(entry: Entry): PackedEntry {
  switch (entry.kind) {
    case "answer":
      // Most answers come from a form of the client.
      return isFromForm(entry)
        ? ["a", entry.key, entry.digest, entry.value]
        : ["a", entry.key, entry.digest, entry.value, ...packSender(entry)];
    case "expired":
      return ["x", entry.key, entry.digest];
    case "begun":
      return ["u", entry.key, entry.undo];
    case "step":
      if (entry.value === undefined) return ["s", entry.key];
      return entry.isStream === true
        ? ["s", entry.key, entry.value, 1]
        : ["s", entry.key, entry.value];
    case "threw":
      return ["e", entry.key, entry.error];
    case "timer":
      return ["t", entry.key];
    case "background":
      return ["b", entry.key];
    case "checkpoint":
      return ["c", entry.key];
    case "changed":
      return ["~", entry.key];
    case "patched":
      return entry.path === "new"
        ? ["p", entry.key]
        : ["p", entry.key, entry.path === "old" ? 0 : 1];
  }
}

/** That an answer comes from a form of the client is not written. */
export function packSender(sender: Sender): readonly string[] {
  const { via = form, who } = sender;
  if (isFromForm(sender)) return none;
  return who === undefined ? [via] : [via, who];
}

const form = "form";
const isFromForm = ({ via = form, who }: Sender): boolean => via === form && who === undefined;

function unpackSender(via: unknown, who: unknown): Sender {
  return senderOf({
    via: typeof via === "string" && via !== form ? via : undefined,
    who: typeof who === "string" ? who : undefined,
  });
}

/** Reads an entry. Throws a TypeError for anything that `packEntry` does not write, such as an entry of a later version. */
export function unpackEntry(packed: unknown): Entry {
  if (!Array.isArray(packed)) throw unknownEntry();
  const [letter, key, first, second, via, who]: unknown[] = packed;
  if (typeof key !== "string") throw unknownEntry();
  switch (letter) {
    case "a":
      if (typeof first !== "string" || second === undefined) throw unknownEntry();
      return via === undefined && who === undefined
        ? { kind: "answer", key, digest: first, value: json(second) }
        : { kind: "answer", key, digest: first, value: json(second), ...unpackSender(via, who) };
    case "x":
      if (typeof first !== "string") throw unknownEntry();
      return { kind: "expired", key, digest: first };
    case "u":
      if (typeof first !== "string") throw unknownEntry();
      return { kind: "begun", key, undo: first };
    case "s":
      if (second === 1) return { kind: "step", key, value: json(first), isStream: true };
      return { kind: "step", key, value: first === undefined ? undefined : json(first) };
    case "e":
      return { kind: "threw", key, error: thrown(first) };
    case "t":
      return { kind: "timer", key };
    case "b":
      return { kind: "background", key };
    case "c":
      return { kind: "checkpoint", key };
    case "~":
      return { kind: "changed", key };
    case "p":
      return {
        kind: "patched",
        key,
        path: first === undefined ? "new" : first === 0 ? "old" : "open",
      };
    default:
      throw unknownEntry();
  }
}

// The value comes from JSON.parse, which the type checker cannot know.
// oxlint-disable-next-line typescript/no-unsafe-type-assertion
const json = (value: unknown): Json => value as Json;

function thrown(value: unknown): Thrown {
  if (typeof value !== "object" || value === null) throw unknownEntry();
  if (!("name" in value) || typeof value.name !== "string") throw unknownEntry();
  if (!("message" in value) || typeof value.message !== "string") throw unknownEntry();
  const { name, message } = value;
  const code = "code" in value ? value.code : undefined;
  const data = "data" in value ? value.data : undefined;
  return {
    name,
    message,
    ...(typeof code === "string" || typeof code === "number" ? { code } : {}),
    ...(data === undefined ? {} : { data: json(data) }),
    ...("isUnintended" in value && value.isUnintended === true ? { isUnintended: true } : {}),
  };
}

const unknownEntry = () => new TypeError("journal: this version does not know the entry");
