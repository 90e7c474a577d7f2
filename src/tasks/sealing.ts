// Everything at rest that came from a person goes through here: arguments, answers, step results, questions,
// status messages, results. The server seals with its key ring.

import type { Json } from "../util/json.ts";
import type { Sealed } from "./task.ts";

export interface Sealer {
  /** The place is authenticated: a record that somebody has moved does not open. */
  readonly seal: (text: string, place: string) => Sealed;
  /** Throws where the key is not at hand or the record is not ours. */
  readonly open: (sealed: Sealed, place: string) => string;
}

export function sealJson(sealer: Sealer, value: Json, place: string): Sealed {
  return sealer.seal(JSON.stringify(value), place);
}

export function openJson(sealer: Sealer, sealed: Sealed, place: string): Json {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what JSON.parse gives is JSON
  return JSON.parse(sealer.open(sealed, place)) as Json;
}

/** Where each part of a task belongs. */
export const places = {
  input: (callId: string): string => `${callId}/input`,
  log: (callId: string, seq: number): string => `${callId}/log/${seq}`,
  answer: (callId: string, key: string): string => `${callId}/answer/${key}`,
  question: (callId: string, wire: string): string => `${callId}/question/${wire}`,
  message: (callId: string): string => `${callId}/message`,
  result: (callId: string): string => `${callId}/result`,
  cause: (callId: string): string => `${callId}/cause`,
};
