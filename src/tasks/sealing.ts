// Sealing what a store keeps. Arguments, answers, step results, questions, status messages and results all go through
// here, and the server seals them with its key ring.

import type { Sender } from "../replay/journal.ts";
import type { Json } from "../util/json.ts";
import type { Arrival, Sealed } from "./task.ts";

/** Seals and opens text. */
export interface Sealer {
  /** Seals text for one place. The place is authenticated, so a record that was moved does not open. */
  readonly seal: (text: string, place: string) => Sealed;
  /**
   * Opens sealed text. Throws if the key is not available, or if the record is from another place or server. In the
   * latter case the error has the reason "forged".
   */
  readonly open: (sealed: Sealed, place: string) => string;
}

/** Seals a JSON value. */
export function sealJson(sealer: Sealer, value: Json, place: string): Sealed {
  return sealer.seal(JSON.stringify(value), place);
}

/** Opens a JSON value. */
export function openJson(sealer: Sealer, sealed: Sealed, place: string): Json {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what JSON.parse gives is JSON
  return JSON.parse(sealer.open(sealed, place)) as Json;
}

/**
 * Seals the answer to a question, so that it counts only for this question in this wording. If it is known how it came, and
 * from whom, that is sealed with it.
 */
export function sealAnswer(
  sealer: Sealer,
  callId: string,
  value: Json,
  to: Asked,
  from: Sender = {},
): Sealed {
  const place = places.answer(callId, to.key, to.digest);
  const { via = null, who = null } = from;
  if (via === null && who === null) return sealJson(sealer, value, place);
  return sealJson(sealer, [value, via, who], `${place}/from`);
}

/** An answer, and how it came if that is known. */
export interface OpenedAnswer {
  readonly value: Json;
  readonly from: Sender;
}

/** Opens the answer to a question. Version 0.1.0 sealed answers for the key of their question alone. */
export function openAnswer(sealer: Sealer, callId: string, value: Sealed, to: Asked): OpenedAnswer {
  const place = places.answer(callId, to.key, to.digest);
  return (
    unlessForged(() => ({ value: openJson(sealer, value, place), from: {} })) ??
    unlessForged(() => sentBy(openJson(sealer, value, `${place}/from`))) ?? {
      value: openJson(sealer, value, `${callId}/answer/${to.key}`),
      from: {},
    }
  );
}

const text = (given: Json | undefined) => (typeof given === "string" ? given : undefined);

function sentBy(opened: Json): OpenedAnswer {
  const [value = null, via, who]: readonly Json[] = Array.isArray(opened) ? opened : [];
  return { value, from: { via: text(via), who: text(who) } };
}

function unlessForged<T>(open: () => T): T | undefined {
  try {
    return open();
  } catch (error) {
    if (!isForged(error)) throw error;
    return undefined;
  }
}

/** A question, as its answer names it. */
type Asked = Pick<Arrival, "key" | "digest">;

/** Whether a record cannot be opened although its key is here, so that no replica of this server can open it. */
export function isForged(error: unknown): boolean {
  return error instanceof Error && "reason" in error && error.reason === "forged";
}

/** The place of each part of a task. */
export const places = {
  input: (callId: string): string => `${callId}/input`,
  log: (callId: string, seq: number): string => `${callId}/log/${seq}`,
  answer: (callId: string, key: string, digest: string): string =>
    `${callId}/answer-to/${JSON.stringify([key, digest])}`,
  question: (callId: string, wire: string): string => `${callId}/question/${wire}`,
  page: (callId: string, wire: string): string => `${callId}/page/${wire}`,
  decision: (callId: string, wire: string, who: string): string =>
    `${callId}/decision/${JSON.stringify([wire, who])}`,
  message: (callId: string): string => `${callId}/message`,
  result: (callId: string): string => `${callId}/result`,
  part: (callId: string, epoch: number, n: number): string => `${callId}/part/${epoch}/${n}`,
  cursor: (callId: string): string => `${callId}/cursor`,
  cause: (callId: string): string => `${callId}/cause`,
};
