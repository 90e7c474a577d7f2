// What a program that measures in its own process returns.

export interface Found {
  readonly name: string;
  readonly samples: readonly number[];
}
