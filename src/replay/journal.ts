// What a handler has been told so far. Keyed, so that code finds its own entries; ordered, so that a
// race is won again by whoever won it first.

import type { Json } from "../util/json.ts";

export type Entry =
  /** The client's raw answer, with a digest of the question it answers. */
  | { readonly kind: "answer"; readonly key: string; readonly value: Json; readonly digest: string }
  /** A question whose time was up before an answer came. */
  | { readonly kind: "expired"; readonly key: string; readonly digest: string }
  /** What a step's body returned; no value where it returned nothing. */
  | { readonly kind: "step"; readonly key: string; readonly value: Json | undefined }
  /** What is left of the error a step's body threw. */
  | { readonly kind: "threw"; readonly key: string; readonly error: Thrown }
  /** A sleep that is over. */
  | { readonly kind: "timer"; readonly key: string }
  | { readonly kind: "background"; readonly key: string }
  | { readonly kind: "checkpoint"; readonly key: string }
  /** A note that this question's wording has changed once since it was put (R7). Delivered to nobody. */
  | { readonly kind: "changed"; readonly key: string };

export interface Thrown {
  readonly name: string;
  readonly message: string;
  readonly code?: string | number;
  readonly data?: Json;
}

/** A question or timer that was open when the last run ended, as the carrier put it out. */
export interface Out {
  readonly key: string;
  /** Absent for a timer. */
  readonly digest: string | undefined;
}

export interface Journal {
  readonly entries: readonly Entry[];
  readonly out: readonly Out[];
}

export const emptyJournal: Journal = { entries: [], out: [] };

/** Entries that show that something happened outside the handler, which no replay can take back. */
export function isEffect(entry: Entry): boolean {
  return entry.kind === "step" || entry.kind === "threw" || entry.kind === "background";
}

// ---------------------------------------------------------------- at rest

/** An entry as it is kept in tokens and logs: an array that starts with its kind's letter. */
export type PackedEntry = readonly [letter: string, key: string, ...rest: unknown[]];

export function packEntry(entry: Entry): PackedEntry {
  switch (entry.kind) {
    case "answer":
      return ["a", entry.key, entry.digest, entry.value];
    case "expired":
      return ["x", entry.key, entry.digest];
    case "step":
      return entry.value === undefined ? ["s", entry.key] : ["s", entry.key, entry.value];
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
  }
}

/** Throws a TypeError for anything `packEntry` does not write: it was written by another version. */
export function unpackEntry(packed: unknown): Entry {
  if (!Array.isArray(packed)) throw unknownEntry();
  const [letter, key, first, second]: unknown[] = packed;
  if (typeof key !== "string") throw unknownEntry();
  switch (letter) {
    case "a":
      if (typeof first !== "string" || second === undefined) throw unknownEntry();
      return { kind: "answer", key, digest: first, value: json(second) };
    case "x":
      if (typeof first !== "string") throw unknownEntry();
      return { kind: "expired", key, digest: first };
    case "s":
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
    default:
      throw unknownEntry();
  }
}

// What JSON.parse made of a sealed text is JSON; the type checker cannot know that.
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
  };
}

const unknownEntry = () => new TypeError("journal: an entry this version does not know");
