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
  /** When it ended. For a worker that died, the last sign of it. For a run under way, now. */
  readonly until: number;
  /** Whether its worker died: another run took over, and this one never ended. */
  readonly isDead: boolean;
  /** Whether it is under way. */
  readonly isOpen: boolean;
}

/** What the runs were. `lastSigns` has the newest time of an entry by epoch. */
export function knownRuns(
  runs: readonly RunFacts[],
  lastSigns: ReadonlyMap<number, number>,
  now: number,
  isOver: boolean,
): KnownRun[] {
  let last = 0;
  return runs.map((run, index) => {
    const next = runs[index + 1];
    const beganAt = run.beganAt ?? lastSigns.get(run.epoch) ?? last;
    last = run.endedAt ?? beganAt;
    const isTakenOver = run.endedAt === undefined && (next !== undefined || isOver);
    const isDead = isTakenOver || run.how === "lost";
    const sign = Math.max(beganAt, lastSigns.get(run.epoch) ?? 0);
    return {
      ...run,
      beganAt,
      // A worker that died is known to have lived until its last entry, not until another one took over.
      until: isDead ? sign : (run.endedAt ?? now),
      isDead,
      isOpen: run.endedAt === undefined && !isTakenOver,
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
