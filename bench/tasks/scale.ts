// How much of it: all, or enough to see that it works and about where it stands.

export interface Scale {
  /** Parked tasks: first so few, then so many. */
  readonly few: number;
  readonly many: number;
  /** How many of them are answered. */
  readonly answers: number;
  readonly idleMs: number;
  /** In a turn, at most. */
  readonly cycles: number;
  readonly turnMs: number;
  readonly rounds: number;
  /** How many cycles are under way at once. */
  readonly lanes: readonly number[];
}

export const full: Scale = {
  few: 1_000,
  many: 100_000,
  answers: 300,
  idleMs: 12_000,
  cycles: 2_000,
  turnMs: 2_000,
  rounds: 7,
  lanes: [1, 16, 64],
};

export const quick: Scale = {
  few: 200,
  many: 1_000,
  answers: 50,
  idleMs: 2_000,
  cycles: 300,
  turnMs: 500,
  rounds: 3,
  lanes: [16],
};
