// The order of the test files. Those that take longest come first, so that the run does not end with one worker busy
// and the others idle.

import { relative } from "node:path";
import type { TestSequencer, TestSpecification, Vitest } from "vitest/node";

/** The slowest files, the slowest of them first. Every other file takes a few seconds at most. */
const slowest = [
  "test/conformance/conformance.test.ts",
  "test/chaos/chaos.test.ts",
  "test/bench/bench.test.ts",
  "test/attack/floods.test.ts",
  "test/attack/attack.test.ts",
  "test/attack/intruder.test.ts",
  "test/attack/unread-streams.test.ts",
  "test/draft/client.test.ts",
  "test/cli/demo.test.ts",
  "test/cli/init.test.ts",
  "test/conformance-client/client.test.ts",
  "test/cli/hostile.test.ts",
  "examples/examples.test.ts",
  "test/cli/dev.test.ts",
  "test/cli/mishaps.test.ts",
  "test/faults/rolling.test.ts",
  "test/client/many.test.ts",
  "test/cli/checks.test.ts",
  "test/cli/tasks.test.ts",
  "test/cli/journal.test.ts",
  "examples/client/client.test.ts",
  "examples/lambda/lambda.test.ts",
  "examples/vercel/vercel.test.ts",
  "test/cli/pipe.test.ts",
  "test/cli/terminal.test.ts",
  "src/client/hostile.test.ts",
  "test/package/package.test.ts",
  "test/client/kill.test.ts",
  "test/differential/differential.test.ts",
  "src/tasks/stores/postgres/postgres-store.test.ts",
  "test/oauth/connect.test.ts",
  "test/oauth/attacks.test.ts",
  "test/approvals/killed.test.ts",
  "test/oauth/replicas.test.ts",
  "test/wire/stdio.test.ts",
  "test/reach/every-way.test.ts",
  "test/client/everything.test.ts",
  "test/client-with-tasks/oven.test.ts",
  "test/cli/worker.test.ts",
  "test/faults/replicas.postgres.test.ts",
  "test/faults/replicas.sqlite.test.ts",
  "test/faults/outage.test.ts",
];

export default class SlowFirst implements TestSequencer {
  readonly #root: string;

  constructor({ config }: Vitest) {
    this.#root = config.root;
  }

  readonly sort = (files: TestSpecification[]): TestSpecification[] =>
    files.toSorted((one, other) => this.#rank(one) - this.#rank(other));

  /** One machine runs all files. */
  readonly shard = (files: TestSpecification[]): TestSpecification[] => files;

  #rank({ moduleId }: TestSpecification): number {
    const at = slowest.indexOf(relative(this.#root, moduleId).replaceAll("\\", "/"));
    return at === -1 ? slowest.length : at;
  }
}
