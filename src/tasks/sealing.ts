// Sealing what a store keeps. Arguments, answers, step results, questions, status messages and results all go through
// here, and the server seals them with its key ring.

import type { Json } from "../util/json.ts";
import type { Sealed } from "./task.ts";

/** Seals and opens text. */
export interface Sealer {
  /** Seals text for one place. The place is authenticated, so a record that was moved does not open. */
  readonly seal: (text: string, place: string) => Sealed;
  /** Opens sealed text. Throws if the key is not available, or if the record is from another place or server. */
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

/** The place of each part of a task. */
export const places = {
  input: (callId: string): string => `${callId}/input`,
  log: (callId: string, seq: number): string => `${callId}/log/${seq}`,
  answer: (callId: string, key: string): string => `${callId}/answer/${key}`,
  question: (callId: string, wire: string): string => `${callId}/question/${wire}`,
  message: (callId: string): string => `${callId}/message`,
  result: (callId: string): string => `${callId}/result`,
  cause: (callId: string): string => `${callId}/cause`,
};
