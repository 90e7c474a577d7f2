// A batch as the store keeps it.

import type { Json } from "../../util/json.ts";
import { openJson, places, sealJson } from "../sealing.ts";
import type { Sealer } from "../sealing.ts";
import type { StoredPart } from "../stored-parts.ts";
import type { Batch, Piece } from "./pieces.ts";

/** The key that a store keeps the parts of a stream under: text that every store can keep. */
export const storedKey = (block: string): string => JSON.stringify(block);

/** The record of a batch, sealed for its place. */
export function partRecord(
  sealer: Sealer,
  callId: string,
  epoch: number,
  batch: Batch,
): StoredPart {
  const { n, block, at, pieces } = batch;
  const packed = [block, at, pieces as Json];
  return {
    n,
    key: storedKey(block),
    record: sealJson(sealer, packed, places.part(callId, epoch, n)),
  };
}

/** Opens a batch. Throws as `openJson` does. */
export function openPart(
  sealer: Sealer,
  callId: string,
  epoch: number,
  { n, record }: StoredPart,
): Batch {
  const opened = openJson(sealer, record, places.part(callId, epoch, n));
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it was sealed by `partRecord`
  const [block, at, pieces] = opened as unknown as [string, number, readonly Piece[]];
  return { n, block, at, pieces };
}
