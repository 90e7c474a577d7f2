// What a program that measures within its own process hands back.

export interface Found {
  readonly name: string;
  readonly samples: readonly number[];
}
