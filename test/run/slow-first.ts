// The order of the test files: those that take longest come first, so that no worker is left alone with one at the end.

import { relative } from "node:path";
import type { TestSequencer, TestSpecification, Vitest } from "vitest/node";

/** Seconds that a file takes by itself. What is not here takes a few seconds at most. */
const seconds: Readonly<Record<string, number>> = {};

export default class SlowFirst implements TestSequencer {
  readonly #root: string;

  constructor({ config }: Vitest) {
    this.#root = config.root;
  }

  readonly sort = (files: TestSpecification[]): TestSpecification[] =>
    files.toSorted((one, other) => this.#seconds(other) - this.#seconds(one));

  /** One machine runs all of them. */
  readonly shard = (files: TestSpecification[]): TestSpecification[] => files;

  #seconds({ moduleId }: TestSpecification): number {
    return seconds[relative(this.#root, moduleId)] ?? 0;
  }
}
