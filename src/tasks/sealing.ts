// Sealing what a store keeps. Arguments, answers, step results, questions, status messages and results all go through
// here, and the server seals them with its key ring.

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

/** Seals the answer to a question, so that it counts only for this question in this wording. */
export function sealAnswer(sealer: Sealer, callId: string, value: Json, to: Asked): Sealed {
  return sealJson(sealer, value, places.answer(callId, to.key, to.digest));
}

/** Opens the answer to a question. Version 0.1.0 sealed answers for the key of their question alone. */
export function openAnswer(sealer: Sealer, callId: string, value: Sealed, to: Asked): Json {
  try {
    return openJson(sealer, value, places.answer(callId, to.key, to.digest));
  } catch (error) {
    if (!isForged(error)) throw error;
    return openJson(sealer, value, `${callId}/answer/${to.key}`);
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
