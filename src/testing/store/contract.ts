// The suite that every task store passes, as tests of vitest.

import { afterEach, beforeEach, describe } from "vitest";
import { describeAccounts } from "./accounts.ts";
import { describeAnswers } from "./answers.ts";
import { describeAudit } from "./auditing.ts";
import { describeHistory } from "./history.ts";
import { describeApprovals } from "./approvals.ts";
import { describeLeases } from "./leases.ts";
import { describeModel } from "./model.ts";
import { startsAt } from "./opened.ts";
import type { OpenedStore, OpenStore } from "./opened.ts";
import { describeRaces } from "./races.ts";
import { describeRounds } from "./rounds.ts";
import { describeShares } from "./shares.ts";
import { describeStreams } from "./streams.ts";
import { describeSweeping } from "./sweeping.ts";
import { describeTasks } from "./tasks.ts";
import { describeTexts } from "./texts.ts";
import { describeUndoing } from "./undoing.ts";
import { describeWrites } from "./writes.ts";

/**
 * Registers the tests that a task store has to pass: every operation, two replicas on the same data, unusual texts, and
 * random sequences of operations that are compared with `memoryStore`. Call it at the top of a test file of vitest.
 *
 * Needs the packages `vitest` and `fast-check`. Set the environment variable `PARLEY_PROPERTY_RUNS` to change how many
 * random sequences are tried. Default: 60.
 *
 * @param name - The name of the store, for the titles of the tests.
 * @param open - Opens an empty store. It is called once for each test, and once for each random sequence.
 * @example
 * ```ts
 * import { describeTaskStore } from "mcp-parley/testing/store";
 * import { MyDatabase, MyStore } from "./my-store.ts";
 *
 * describeTaskStore("MyStore", async ({ startsAt }) => {
 *   let now = startsAt;
 *   const database = new MyDatabase();
 *   const open = () => new MyStore(database, { now: () => now });
 *   return {
 *     store: open(),
 *     another: async () => open(),
 *     advance: async (ms) => void (now += ms),
 *     close: () => database.close(),
 *   };
 * });
 * ```
 */
export function describeTaskStore(name: string, open: OpenStore): void {
  describe(`${name} as a task store`, () => {
    describe("contract", () => {
      let current: OpenedStore | undefined;
      beforeEach(async () => void (current = await open({ startsAt })));
      afterEach(async () => current?.close());
      const opened = () => current!;

      describeTasks(opened);
      describeAnswers(opened);
      describeApprovals(opened);
      describeLeases(opened);
      describeWrites(opened);
      describeSweeping(opened);
      describeUndoing(opened);
      describeStreams(opened);
      describeShares(opened);
      describeHistory(opened);
      describeRounds(opened);
      describeAccounts(opened);
      describeTexts(opened);
      describeRaces(opened);
      describeAudit(opened);
    });
    describeModel(open);
  });
}
