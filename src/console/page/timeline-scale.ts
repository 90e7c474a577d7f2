// Where a moment of a task is on the timeline. People take hours and steps take milliseconds, so the axis is cut where
// runs begin and end. Every piece gets room by the logarithm of its length, and within a piece time is linear.

import type { RunFacts } from "../wire.ts";

/** A stretch of a task's time. */
export interface Piece {
  readonly from: number;
  readonly to: number;
  /** Whether a run was under way. Otherwise the task waited. */
  readonly isServer: boolean;
  readonly left: number;
  readonly width: number;
}

/** A run with the end that it had, or that is known of it. */
export interface KnownRun extends RunFacts {
  readonly beganAt: number;
  /**
   * Until when its worker is known to have run it. If the worker lost it, that is its last record. If it lasts, that is now,
   * or the end of a lease that was not renewed.
   */
  readonly until: number;
  /** When it last recorded something. */
  readonly recordedAt: number | undefined;
  /** Whether its worker lost it: it did not renew its lease, and the task was taken from it. */
  readonly isLost: boolean;
  /** Whether its worker lost it and is silent: it died. A worker that lives may have been unable to reach the store. */
  readonly isDead: boolean;
  /** Whether it has not ended. */
  readonly isOpen: boolean;
}

/** What the runs were. `records` has the newest time of an entry by epoch. */
export function knownRuns(
  runs: readonly RunFacts[],
  records: ReadonlyMap<number, number>,
  now: number,
): KnownRun[] {
  let last = 0;
  return runs.map((run, index) => {
    const { endedAt, leaseEndedAt, isSilent = false } = run;
    const recordedAt = records.get(run.epoch);
    const beganAt = run.beganAt ?? recordedAt ?? last;
    last = endedAt ?? beganAt;
    const isTakenOver = endedAt === undefined && runs[index + 1] !== undefined;
    const isLost = isTakenOver || run.how === "lost";
    return {
      ...run,
      beganAt,
      recordedAt,
      until: isLost
        ? Math.max(beganAt, recordedAt ?? 0)
        : (endedAt ?? Math.max(beganAt, Math.min(now, leaseEndedAt ?? now))),
      isLost,
      isDead: isLost && isSilent,
      isOpen: endedAt === undefined && !isTakenOver,
    };
  });
}

/** Cuts the time from `from` to `to` into pieces that fill `width`. */
export function piecesOf(
  runs: readonly KnownRun[],
  from: number,
  to: number,
  width: number,
): Piece[] {
  const cuts: { from: number; to: number; isServer: boolean }[] = [];
  let at = from;
  for (const run of runs.toSorted((one, other) => one.beganAt - other.beganAt)) {
    const began = Math.max(at, run.beganAt);
    const ended = Math.max(began, run.until);
    if (began > at) cuts.push({ from: at, to: began, isServer: false });
    cuts.push({ from: began, to: ended, isServer: true });
    at = ended;
  }
  if (at < to || cuts.length === 0) {
    cuts.push({ from: at, to: Math.max(to, at), isServer: runs.length === 0 });
  }
  const weights = cuts.map((cut) => 1 + Math.log10(1 + (cut.to - cut.from)));
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  let left = 0;
  return cuts.map((cut, index) => {
    const piece = { ...cut, left, width: ((weights[index] ?? 0) / total) * width };
    left += piece.width;
    return piece;
  });
}

/** Where a moment is. A moment outside is at the nearest end. */
export function placeOf(pieces: readonly Piece[], at: number): number {
  const piece = pieces.find(({ to }) => at <= to) ?? pieces.at(-1);
  if (piece === undefined) return 0;
  const length = piece.to - piece.from;
  const share = length === 0 ? 1 : (at - piece.from) / length;
  return piece.left + Math.min(1, Math.max(0, share)) * piece.width;
}
