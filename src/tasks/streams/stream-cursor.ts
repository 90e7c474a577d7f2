// How far a client has read the streams of a task. It is sealed, because a client must not make one up.

import { openJson, places, sealJson } from "../sealing.ts";
import type { Sealer } from "../sealing.ts";

/** How far the streams of a task are read. */
export interface StreamCursor {
  /** How many records of the log. */
  readonly records: number;
  /** Under which claim the running streams were read, and up to which batch. */
  readonly epoch: number;
  readonly n: number;
  /** The streams that the client has a beginning of, each with the number of the batch that comes next. */
  readonly open: Readonly<Record<string, number>>;
}

/** The text is not a cursor of this task. */
export class BadCursorError extends Error {
  override readonly name = "BadCursorError";
}

/** The start of the streams of a task. */
export const streamStart: StreamCursor = { records: 0, epoch: 0, n: -1, open: {} };

/** Seals a cursor for its task. */
export function sealCursor(sealer: Sealer, callId: string, cursor: StreamCursor): string {
  const { records, epoch, n, open } = cursor;
  return sealJson(sealer, [records, epoch, n, { ...open }], places.cursor(callId));
}

/** Opens a cursor. Throws a BadCursorError if it is not one of this task. */
export function openCursor(sealer: Sealer, callId: string, text: string): StreamCursor {
  try {
    const opened = openJson(sealer, text, places.cursor(callId));
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it was sealed by `sealCursor`
    const [records, epoch, n, open] = opened as unknown as [
      number,
      number,
      number,
      StreamCursor["open"],
    ];
    return { records, epoch, n, open };
  } catch (cause) {
    throw new BadCursorError("The cursor is not one of this task.", { cause });
  }
}
