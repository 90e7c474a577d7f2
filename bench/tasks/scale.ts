// How much is measured: everything, or enough to see that it works and roughly where it stands.

export interface Scale {
  /** The numbers of parked tasks: first few, then many. */
  readonly few: number;
  readonly many: number;
  /** How many parked tasks are answered. */
  readonly answers: number;
  readonly idleMs: number;
  /** How many cycles each contender does before the first turn. */
  readonly warmUp: number;
  /** The most cycles in one turn. */
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
  warmUp: 1_000,
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
  warmUp: 600,
  cycles: 300,
  turnMs: 500,
  rounds: 3,
  lanes: [16, 64],
};
